// The operating point: one slider, and all that follows it.

const roc = facts.roc;
const TOTAL_POS = roc.true_positives[roc.true_positives.length - 1];
const TOTAL_NEG = roc.false_positives[roc.false_positives.length - 1];
const SAMPLE = { size: TOTAL_POS + TOTAL_NEG, prevalence: TOTAL_POS / (TOTAL_POS + TOTAL_NEG) };
const followers = [];
const chosen = { place: roc.youden, size: SAMPLE.size, prevalence: SAMPLE.prevalence };

// Rates of a threshold, at a share of positives: Bayes's rule where it is not that of the table.
function ratesAt(place, prevalence) {
  const tpr = roc.true_positives[place] / TOTAL_POS, fpr = roc.false_positives[place] / TOTAL_NEG;
  const found = tpr * prevalence, alarms = fpr * (1 - prevalence);
  const missed = (1 - tpr) * prevalence, spared = (1 - fpr) * (1 - prevalence);
  const ppv = found + alarms > 0 ? found / (found + alarms) : NaN;
  return {
    tpr, fpr, found, alarms, missed, spared, ppv,
    npv: spared + missed > 0 ? spared / (spared + missed) : NaN,
    lift: prevalence > 0 ? ppv / prevalence : NaN,
    flagged: found + alarms,
  };
}

// Wilson's interval of a share of n rows; null where rows have weights or groups.
function wilson(part, whole) {
  if (roc.z === null || !(whole > 0)) return null;
  const z2 = roc.z * roc.z, p = part / whole, size = 1 + z2 / whole;
  const middle = (p + z2 / (2 * whole)) / size;
  const reach = roc.z * Math.sqrt(p * (1 - p) / whole + z2 / (4 * whole * whole)) / size;
  return [Math.max(0, Math.min(middle - reach, p)), Math.min(1, Math.max(middle + reach, p))];
}

// The number for people, and in full for machines.
function show(name, value, words, ends) {
  const cell = byId(name);
  cell.dataset.value = Number.isFinite(value) ? String(value) : "";
  cell.textContent = words;
  delete cell.dataset.low;
  delete cell.dataset.high;
  if (ends) {
    cell.dataset.low = String(ends[0]);
    cell.dataset.high = String(ends[1]);
    const level = `${+(100 * facts.level).toPrecision(4)}% CI`;
    cell.append(html("small", {}, `${level} ${percent(ends[0])} to ${percent(ends[1])}`));
  }
}

function update() {
  const { place, size, prevalence } = chosen, r = ratesAt(place, prevalence);
  const words = thresholdText(roc.threshold[place]);
  byId("slider").value = place;
  byId("slider").setAttribute("aria-valuetext",
    `threshold ${words}: sensitivity ${percent(r.tpr)}, specificity ${percent(1 - r.fpr)}`);
  byId("threshold").textContent = words;
  byId("threshold").dataset.value = roc.threshold[place] === null ? "" : String(roc.threshold[place]);
  byId("size-text").textContent = `${amount(size)} rows, ${percent(prevalence)} of them positive`;
  for (const [name, part] of [["tp", r.found], ["fn", r.missed], ["fp", r.alarms], ["tn", r.spared]]) {
    show(name, size * part, amount(size * part));
  }
  show("sensitivity", r.tpr, percent(r.tpr), wilson(roc.true_positives[place], TOTAL_POS));
  show("specificity", 1 - r.fpr, percent(1 - r.fpr), wilson(TOTAL_NEG - roc.false_positives[place], TOTAL_NEG));
  // At another share of positives than the table's these are computed, not counted.
  const counted = prevalence === SAMPLE.prevalence;
  const tp = roc.true_positives[place], fp = roc.false_positives[place];
  const tn = TOTAL_NEG - fp, fn = TOTAL_POS - tp;
  show("ppv", r.ppv, percent(r.ppv), counted ? wilson(tp, tp + fp) : null);
  show("npv", r.npv, percent(r.npv), counted ? wilson(tn, tn + fn) : null);
  show("lift", r.lift, Number.isFinite(r.lift) ? r.lift.toFixed(2) : "–");
  show("flagged-share", r.flagged, percent(r.flagged));
  show("flagged", size * r.flagged, amount(size * r.flagged));
  followers.forEach((follow) => follow(place));
}

function moveTo(place) {
  chosen.place = Math.max(0, Math.min(roc.threshold.length - 1, place));
  update();
}

// A line for those who cannot see the numbers move; not for every step of a drag.
let silence = 0;
function speak() {
  clearTimeout(silence);
  silence = setTimeout(() => {
    byId("spoken").textContent = byId("slider").getAttribute("aria-valuetext");
  }, 600);
}

// Only the field that was changed is read: the other one shows a rounded number.
function readInput(field, name, unit, isGood) {
  const value = Number(field.value) / unit, good = field.value !== "" && Number.isFinite(value) && isGood(value);
  field.setAttribute("aria-invalid", String(!good));
  if (good) chosen[name] = value;
  update();
}

function resetInputs() {
  Object.assign(chosen, SAMPLE);
  for (const name of ["size", "prevalence"]) byId(name).setAttribute("aria-invalid", "false");
  byId("size").value = +SAMPLE.size.toPrecision(7);
  byId("prevalence").value = +(100 * SAMPLE.prevalence).toPrecision(4);
  update();
}

function jumpButtons() {
  const jumps = [["Youden", roc.youden]];
  roc.shares.forEach((value, k) => jumps.push([`flag ${share(value)}`, roc.marks[k]]));
  for (const [words, place] of jumps) {
    const button = html("button", { type: "button" }, words);
    button.addEventListener("click", () => { moveTo(place); speak(); });
    byId("jumps").append(button);
  }
}

function drawRoc(width) {
  const side = Math.min(width, 520);
  const chart = new Chart({
    width: side, height: side - 10, x: [0, 1], y: [0, 1], xLabel: "false positive rate",
    yLabel: "true positive rate", label: `ROC curve, area ${facts.headline.curve_auc.toFixed(3)}`,
    xTicks: [0, 0.25, 0.5, 0.75, 1], yTicks: [0, 0.25, 0.5, 0.75, 1],
  });
  const band = roc.band;
  chart.area(band.fpr.map((x, k) => [x, band.low[k], band.high[k]]), "band");
  chart.line([[0, 0], [1, 1]], "chance");
  chart.line(roc.false_positives.map((fp, k) => [fp / TOTAL_NEG, roc.true_positives[k] / TOTAL_POS]), "own");
  const mark = chart.dot(0, 0, "mark", 7);
  followers.push((place) => {
    mark.setAttribute("cx", chart.X(roc.false_positives[place] / TOTAL_NEG));
    mark.setAttribute("cy", chart.Y(roc.true_positives[place] / TOTAL_POS));
  });
  mark.id = "roc-point";
  chart.svg.classList.add("clickable");
  chart.svg.addEventListener("click", (event) => moveTo(nearestTo(event, chart)));
  return chart.svg;
}

// The threshold whose point on the curve is nearest to where the mouse was.
function nearestTo(event, chart) {
  const box = chart.svg.getBoundingClientRect(), scale = chart.o.width / box.width;
  const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
  let best = 0, least = Infinity;
  roc.threshold.forEach((_, k) => {
    const away = Math.hypot(chart.X(roc.false_positives[k] / TOTAL_NEG) - x, chart.Y(roc.true_positives[k] / TOTAL_POS) - y);
    if (away < least) { least = away; best = k; }
  });
  return best;
}

// All thresholds of the page with their counts and rates.
function thresholdsCsv() {
  const head = "threshold,true_positives,false_positives,false_negatives,true_negatives," +
    "sensitivity,specificity,ppv,npv,lift,flagged_share";
  const lines = roc.threshold.map((threshold, k) => {
    const r = ratesAt(k, SAMPLE.prevalence), tp = roc.true_positives[k], fp = roc.false_positives[k];
    const cells = [threshold === null ? Infinity : threshold, tp, fp, TOTAL_POS - tp, TOTAL_NEG - fp,
      r.tpr, 1 - r.fpr, r.ppv, r.npv, r.lift, r.flagged];
    return cells.map((v) => (Number.isNaN(v) ? "" : v === Infinity ? "inf" : String(v))).join(",");
  });
  return `${[head, ...lines].join("\n")}\n`;
}

function download() {
  const link = html("a", { download: "thresholds.csv" });
  link.href = URL.createObjectURL(new Blob([thresholdsCsv()], { type: "text/csv" }));
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function startOperating() {
  const slider = byId("slider");
  slider.max = roc.threshold.length - 1;
  slider.addEventListener("input", () => { moveTo(Number(slider.value)); speak(); });
  byId("controls").hidden = false;
  byId("download").hidden = false;
  byId("download").addEventListener("click", download);
  byId("size").addEventListener("input", (event) => readInput(event.target, "size", 1, (v) => v > 0));
  byId("prevalence").addEventListener("input", (event) => readInput(event.target, "prevalence", 100, (v) => v >= 0 && v <= 1));
  byId("reset").addEventListener("click", resetInputs);
  jumpButtons();
  drawing(byId("roc"), (width) => { const found = drawRoc(width); update(); return found; });
  resetInputs();
}

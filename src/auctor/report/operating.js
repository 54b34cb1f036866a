// The operating point: the slider, and everything that follows it.

const roc = facts.roc;
const TOTAL_POS = roc.true_positives[roc.true_positives.length - 1];
const TOTAL_NEG = roc.false_positives[roc.false_positives.length - 1];
const SAMPLE = { size: TOTAL_POS + TOTAL_NEG, prevalence: TOTAL_POS / (TOTAL_POS + TOTAL_NEG) };
const followers = [];
// The slider begins at the threshold by which the model itself predicts.
const chosen = { index: roc.model, size: SAMPLE.size, prevalence: SAMPLE.prevalence };

// Rates of a threshold for a fraction of positives (prevalence), by Bayes's rule.
function ratesAt(index, prevalence) {
  const tpr = roc.true_positives[index] / TOTAL_POS, fpr = roc.false_positives[index] / TOTAL_NEG;
  const caught = tpr * prevalence, alarms = fpr * (1 - prevalence);
  const missed = (1 - tpr) * prevalence, spared = (1 - fpr) * (1 - prevalence);
  const ppv = caught + alarms > 0 ? caught / (caught + alarms) : NaN;
  return {
    tpr, fpr, caught, alarms, missed, spared, ppv,
    npv: spared + missed > 0 ? spared / (spared + missed) : NaN,
    lift: prevalence > 0 ? ppv / prevalence : NaN,
    flagged: caught + alarms,
  };
}

// Logarithm of the gamma function, by the Lanczos approximation.
function logGamma(x) {
  const terms = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155,
    0.1208650973866179e-2, -0.5395239384953e-5];
  const shifted = x + 5.5;
  const series = terms.reduce((sum, term, k) => sum + term / (x + 1 + k), 1.000000000190015);
  return (x + 0.5) * Math.log(shifted) - shifted + Math.log(2.5066282746310005 * series / x);
}

// Distribution function of Beta(a, b) at x, as a continued fraction (Lentz's method).
function betaBelow(x, a, b) {
  if (x > (a + 1) / (a + b + 2)) return 1 - betaBelow(1 - x, b, a);
  const guard = (value) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1, d = 1 / guard(1 - (a + b) * x / (a + 1)), fraction = d;
  for (let m = 1; m < 5000; m += 1) {
    const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guard(1 + even * d);
    c = guard(1 + even / c);
    fraction *= c * d;
    const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guard(1 + odd * d);
    c = guard(1 + odd / c);
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-14) break;
  }
  const scale = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  return Math.exp(scale) * fraction / a;
}

// Quantile of Beta(a, b), by bisection.
function betaQuantile(probability, a, b) {
  let low = 0, high = 1;
  for (let k = 0; k < 50; k += 1) {
    const middle = (low + high) / 2;
    if (betaBelow(middle, a, b) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

// Clopper-Pearson interval of a fraction; null if rows have weights or groups. Unlike Wilson's
// interval it also holds for the rate by which the threshold was chosen.
function exact(part, whole) {
  if (!roc.is_counted || !(whole > 0)) return null;
  const tail = (1 - facts.level) / 2, rest = whole - part;
  return [
    part > 0 ? betaQuantile(tail, part, rest + 1) : 0,
    rest > 0 ? betaQuantile(1 - tail, part + 1, rest) : 1,
  ];
}

// Show a number as text, and keep it in full in a data attribute.
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
  const { index, size, prevalence } = chosen, r = ratesAt(index, prevalence);
  const words = thresholdText(roc.threshold[index]);
  byId("slider").value = index;
  byId("slider").setAttribute("aria-valuetext",
    `threshold ${words}: sensitivity ${percent(r.tpr)}, specificity ${percent(1 - r.fpr)}`);
  byId("threshold").textContent = index === roc.model ? `${words}, the model's own` : words;
  byId("threshold").dataset.value = roc.threshold[index] === null ? "" : String(roc.threshold[index]);
  const rows = facts.data.is_weighted && size === SAMPLE.size ? `rows of the total weight ${amount(size)}` : `${amount(size)} rows`;
  byId("size-text").textContent = `${rows}, ${percent(prevalence)} of them positive`;
  for (const [name, part] of [["tp", r.caught], ["fn", r.missed], ["fp", r.alarms], ["tn", r.spared]]) {
    show(name, size * part, amount(size * part));
  }
  show("sensitivity", r.tpr, percent(r.tpr), exact(roc.true_positives[index], TOTAL_POS));
  show("specificity", 1 - r.fpr, percent(1 - r.fpr), exact(TOTAL_NEG - roc.false_positives[index], TOTAL_NEG));
  // These have intervals only at the fraction of positives of the table, where rows were counted.
  const counted = prevalence === SAMPLE.prevalence;
  const tp = roc.true_positives[index], fp = roc.false_positives[index];
  const tn = TOTAL_NEG - fp, fn = TOTAL_POS - tp;
  show("ppv", r.ppv, percent(r.ppv), counted ? exact(tp, tp + fp) : null);
  show("npv", r.npv, percent(r.npv), counted ? exact(tn, tn + fn) : null);
  show("lift", r.lift, Number.isFinite(r.lift) ? r.lift.toFixed(2) : "–");
  show("flagged-fraction", r.flagged, percent(r.flagged));
  show("flagged", size * r.flagged, amount(size * r.flagged));
  followers.forEach((follow) => follow(index));
}

function moveTo(index) {
  chosen.index = Math.max(0, Math.min(roc.threshold.length - 1, index));
  update();
}

// Announce the numbers to screen readers, once the slider has stopped.
let silence = 0;
function speak() {
  clearTimeout(silence);
  silence = setTimeout(() => {
    byId("spoken").textContent = byId("slider").getAttribute("aria-valuetext");
  }, 600);
}

// Read only the field that was changed: the other one shows a rounded number.
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
  const jumps = [["the model's own", roc.model], ["largest KS on these rows", roc.youden]];
  roc.fractions.forEach((value, k) => jumps.push([`flag ${shortPercent(value)}`, roc.marks[k]]));
  for (const [words, index] of jumps) {
    const button = html("button", { type: "button" }, words);
    button.addEventListener("click", () => { moveTo(index); speak(); });
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
  followers.push((index) => {
    mark.setAttribute("cx", chart.X(roc.false_positives[index] / TOTAL_NEG));
    mark.setAttribute("cy", chart.Y(roc.true_positives[index] / TOTAL_POS));
  });
  mark.id = "roc-point";
  chart.svg.classList.add("clickable");
  chart.svg.addEventListener("click", (event) => moveTo(nearestTo(event, chart)));
  return chart.svg;
}

// The threshold whose point on the curve is nearest to the mouse.
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

// All thresholds of the page with their counts and rates, as CSV.
function thresholdsCsv() {
  const head = "threshold,true_positives,false_positives,false_negatives,true_negatives," +
    "sensitivity,specificity,ppv,npv,lift,flagged_fraction";
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
  drawing(byId("roc"), (width) => { const curve = drawRoc(width); update(); return curve; });
  resetInputs();
}

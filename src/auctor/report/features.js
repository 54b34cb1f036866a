// Feature plots with their ROC curves, the table of features, and the search.

const features = facts.features.rows;
const AT_ONCE = 12, MOST_LISTED = 200;
let nCards = AT_ONCE;
const cardOf = new Map();
let matching = features;

function drawNumber(plot, width) {
  const [low, high] = plot.limits, edges = [low, ...plot.cuts.map((c) => Math.max(low, Math.min(high, c))), high];
  const missing = plot.missing, strip = 46;
  const all = [...plot.values, ...(plot.low || []), ...(plot.high || []), 0, ...(missing ? [missing.value, missing.low, missing.high] : [])];
  const chart = new Chart({
    width, height: 190 + strip, x: [low, high], y: rangeOf(all, 0.06), bottom: 26 + strip, left: 46,
    right: missing ? 66 : 14, label: "Feature plot: contribution of each value to the score",
  });
  chart.line([[low, 0], [high, 0]], "chance");
  if (plot.low) {
    chart.area(plot.values.flatMap((_, k) => [[edges[k], plot.low[k], plot.high[k]], [edges[k + 1], plot.low[k], plot.high[k]]]), "band");
  }
  chart.line(plot.values.flatMap((v, k) => [[edges[k], v], [edges[k + 1], v]]), "own");
  if (missing) drawMissing(chart, missing, width);
  drawStrip(chart, plot, strip);
  return chart.svg;
}

function drawMissing(chart, missing, width) {
  const x = width - 27, y = chart.Y(missing.value);
  if (missing.low !== null) chart.add("line", { class: "whisker", x1: x, x2: x, y1: chart.Y(missing.low), y2: chart.Y(missing.high) });
  chart.add("circle", { class: "dot", cx: x, cy: y, r: 4.5 });
  chart.text(x, chart.o.height - chart.o.bottom + 16, "missing", "middle", "quiet");
}

// Histogram of the values: positive rows upwards, negative rows downwards.
function drawStrip(chart, plot, height) {
  const most = Math.max(1e-9, ...plot.pos, ...plot.neg), middle = chart.o.height - height / 2;
  plot.pos.forEach((_, k) => {
    const left = chart.X(plot.edges[k]), right = chart.X(plot.edges[k + 1]);
    const width = Math.max(1, (right - left) * 0.9);
    [[plot.pos[k], "fill-pos", -1], [plot.neg[k], "fill-neg", 0]].forEach(([v, kind, side]) => {
      const size = (height / 2 - 3) * v / most;
      if (size > 0) chart.add("rect", { class: kind, x: left + (right - left - width) / 2, y: middle + side * size, width, height: size });
    });
  });
}

function drawCategories(plot, width) {
  const names = plot.categories.slice(), values = plot.values.slice();
  if (plot.missing) { names.push("missing or unknown"); values.push(plot.missing.value); }
  const height = 22, left = Math.min(150, width * 0.36), letters = Math.floor((left - 10) / 6.6);
  const chart = new Chart({
    width, height: names.length * height + 40, x: rangeOf([...values, ...(plot.low || []), ...(plot.high || []), 0], 0.08),
    y: [names.length - 0.5, -0.5], left, bottom: 30, yTicks: [], label: "Feature plot: contribution of each category to the score",
  });
  chart.line([[0, -0.5], [0, names.length - 0.5]], "chance");
  names.forEach((name, k) => {
    chart.add("line", { class: "gridline", x1: left, x2: width - 18, y1: chart.Y(k), y2: chart.Y(k) });
    named(chart.text(left - 6, chart.Y(k) + 4, "", "end"), name, letters);
    if (plot.low && k < plot.low.length && plot.low[k] !== null) chart.line([[plot.low[k], k], [plot.high[k], k]], "whisker");
    chart.line([[0, k], [values[k], k]], "own");
    const dot = chart.dot(values[k], k, "dot", 4.5);
    if (k < plot.pos.length) dot.append(svg("title", {}, `${percent(plot.pos[k])} of the positive rows, ${percent(plot.neg[k])} of the negative rows`));
  });
  return chart.svg;
}

function drawSurface(plot, width) {
  const [first, second] = plot.axes, n = plot.grid.length, m = plot.grid[0].length;
  const most = Math.max(1e-12, ...plot.grid.flat().map((v) => Math.abs(v || 0)));
  const left = 100, chart = new Chart({
    width, height: 250, x: [0, n], y: [0, m], left, xTicks: [], yTicks: [], xLabel: shorten(first.name, 30), yLabel: shorten(second.name, 26),
    label: `Heat map: joint contribution of ${shorten(first.name, 40)} and ${shorten(second.name, 40)}`,
  });
  plot.grid.forEach((column, i) => column.forEach((v, j) => {
    const cell = chart.box(i, i + 1, j, j + 1, v >= 0 ? "heat-pos" : "heat-neg");
    cell.setAttribute("fill-opacity", (Math.abs(v || 0) / most).toFixed(3));
    cell.append(svg("title", {}, `${first.labels[i]}; ${second.labels[j]}: ${significant(v, 3)}`));
  }));
  [0, m - 1].forEach((j) => named(chart.text(left - 5, chart.Y(j + 0.5) + 4, "", "end", "quiet"), second.labels[j], 12));
  [[0, "start"], [n - 1, "end"]].forEach(([i, anchor]) => {
    const x = anchor === "start" ? chart.X(0) : chart.X(n);
    if (n > 1 || i === 0) named(chart.text(x, chart.o.height - 26, "", anchor, "quiet"), first.labels[i], 16);
  });
  return chart.svg;
}

function drawFeatureRoc(plot, width, area) {
  const side = Math.min(width, 190);
  const chart = new Chart({
    width: side, height: side, x: [0, 1], y: [0, 1], left: 34, bottom: 30, right: 8, xTicks: [0, 0.5, 1], yTicks: [0, 0.5, 1],
    label: `ROC curve of this feature alone, area ${area.toFixed(3)}`,
  });
  chart.line([[0, 0], [1, 1]], "chance");
  chart.line(plot.roc.fpr.map((x, k) => [x, plot.roc.tpr[k]]), "own");
  return chart.svg;
}

function intervalText(row) {
  const level = `${+(100 * facts.level).toPrecision(4)}% CI`;
  return row.low === null ? "" : ` (${level} ${row.low.toFixed(3)} to ${row.high.toFixed(3)})`;
}

function makeCard(row) {
  const own = html("div", { class: "chart" }), curve = html("div", { class: "chart" });
  const card = html("article", { class: "card" }, [
    named(html("h3"), row.name, 60),
    html("p", {}, `score AUC ${row.auc.toFixed(3)}${intervalText(row)}`), own,
    html("details", {}, [html("summary", {}, "ROC curve of this feature alone"), curve]),
  ]);
  const kinds = { number: drawNumber, category: drawCategories, surface: drawSurface };
  const ready = () => {
    drawing(own, (width) => {
      const parts = [kinds[row.plot.kind](row.plot, Math.min(width, 520))];
      if (row.plot.n_more > 0) parts.push(html("p", {}, `and ${row.plot.n_more} less frequent categories`));
      return parts;
    });
    drawing(curve, (width) => drawFeatureRoc(row.plot, width, row.auc));
  };
  card.querySelector("details").addEventListener("toggle", () => drawings.forEach((redraw) => redraw()));
  return { card, ready };
}

function showCards() {
  const plotted = matching.filter((row) => row.plot), shown = plotted.slice(0, nCards);
  const cards = shown.map((row) => {
    if (!cardOf.has(row)) cardOf.set(row, makeCard(row));
    return cardOf.get(row);
  });
  byId("cards").replaceChildren(...cards.map(({ card }) => card));
  for (const one of cards) {
    if (one.ready) one.ready();
    one.ready = null;
  }
  byId("more").hidden = shown.length >= plotted.length;
  byId("more").textContent = `Show more plots (${shown.length} of ${plotted.length})`;
  drawings.forEach((redraw) => redraw());
}

function tableCells(row) {
  const missing = row.missing === null ? "–" : row.missing.toLocaleString("en-US");
  if (facts.features.kind !== "additive") {
    return [row.kind, row.importance === null ? "–" : row.importance.toFixed(3), missing];
  }
  if (row.range === 0) return ["not used", "–", "0", missing];
  const ends = row.low === null ? "–" : `${row.low.toFixed(3)} to ${row.high.toFixed(3)}`;
  return [row.auc.toFixed(3), ends, significant(row.range, 3), missing];
}

function showTable() {
  const rows = matching.slice(0, MOST_LISTED).map((row) => html("tr", {}, [
    named(html("th", { scope: "row" }), row.name, 60),
    ...tableCells(row).map((cell) => html("td", {}, cell)),
  ]));
  byId("feature-table").tBodies[0].replaceChildren(...rows);
}

function search() {
  const words = byId("search").value.toLocaleLowerCase();
  matching = words ? features.filter((row) => row.name.toLocaleLowerCase().includes(words)) : features;
  nCards = AT_ONCE;
  byId("found").textContent = words ? `${matching.length} of ${features.length} features` : "";
  showTable();
  showCards();
}

function startFeatures() {
  byId("search-line").hidden = features.length < 2;
  byId("search").addEventListener("input", search);
  byId("more").addEventListener("click", () => { nCards += 24; showCards(); });
  showCards();
}

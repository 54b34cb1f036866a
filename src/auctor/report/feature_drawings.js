// Drawings of features: contributions of numbers and categories, heat maps, and ROC curves.

// The score of a model with trees has two parts. Their sum comes first.
const PARTS = [
  { kind: "own", words: "sum of both", of: (plot) => plot.values, ofMissing: (missing) => missing.value },
  { kind: "additive-part", words: "additive part", of: (plot) => plot.additive, ofMissing: (missing) => missing.additive },
  { kind: "tree-part", words: "trees", of: (plot) => plot.trees, ofMissing: (missing) => missing.trees },
];

// Whether a plot has both parts; a forest alone has no additive part.
function hasParts(plot) {
  return Boolean(plot.additive) && [...plot.additive, plot.missing ? plot.missing.additive : 0].some((v) => v);
}

function drawNumber(plot, width) {
  const [low, high] = plot.limits, edges = [low, ...plot.cuts.map((c) => Math.max(low, Math.min(high, c))), high];
  const missing = plot.missing, strip = 46;
  const parts = hasParts(plot) ? PARTS : [];
  const all = [...plot.values, ...parts.flatMap(({ of }) => of(plot)), ...parts.map(({ ofMissing }) => missing && ofMissing(missing)), ...(plot.low || []), ...(plot.high || []), 0, ...(missing ? [missing.value, missing.low, missing.high] : [])];
  const chart = new Chart({
    width, height: 190 + strip, x: [low, high], y: rangeOf(all, 0.06), bottom: 26 + strip, left: 62, yLabel: "contribution",
    right: missing ? 66 : 14, label: "Feature plot: contribution of each value to the score",
  });
  chart.line([[low, 0], [high, 0]], "chance");
  if (plot.low) {
    chart.area(plot.values.flatMap((_, k) => [[edges[k], plot.low[k], plot.high[k]], [edges[k + 1], plot.low[k], plot.high[k]]]), "band");
  }
  const steps = (values) => values.flatMap((v, k) => [[edges[k], v], [edges[k + 1], v]]);
  parts.slice(1).forEach(({ kind, of }) => chart.line(steps(of(plot)), kind));
  chart.line(steps(plot.values), "own");
  if (missing) drawMissing(chart, missing, width, parts);
  drawStrip(chart, plot, strip);
  return chart.svg;
}

function drawMissing(chart, missing, width, parts) {
  const x = width - 27, y = chart.Y(missing.value);
  if (missing.low !== null) chart.add("line", { class: "whisker", x1: x, x2: x, y1: chart.Y(missing.low), y2: chart.Y(missing.high) });
  parts.slice(1).forEach(({ kind, ofMissing }) => {
    const height = chart.Y(ofMissing(missing));
    chart.add("line", { class: kind, x1: x - 13, x2: x + 13, y1: height, y2: height });
  });
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
  const parts = (hasParts(plot) ? PARTS.slice(1) : []).map(({ kind, of, ofMissing }) => ({
    kind, values: plot.missing ? [...of(plot), ofMissing(plot.missing)] : of(plot),
  }));
  const height = 22, left = Math.min(150, width * 0.36), letters = Math.floor((left - 10) / 6.6);
  const chart = new Chart({
    width, height: names.length * height + 56, x: rangeOf([...values, ...parts.flatMap((p) => p.values), ...(plot.low || []), ...(plot.high || []), 0], 0.08),
    y: [names.length - 0.5, -0.5], left, bottom: 46, xLabel: "contribution", yTicks: [], label: "Feature plot: contribution of each category to the score",
  });
  chart.line([[0, -0.5], [0, names.length - 0.5]], "chance");
  names.forEach((name, k) => {
    chart.add("line", { class: "gridline", x1: left, x2: width - 18, y1: chart.Y(k), y2: chart.Y(k) });
    named(chart.text(left - 6, chart.Y(k) + 4, "", "end"), name, letters);
    if (plot.low && k < plot.low.length && plot.low[k] !== null) chart.line([[plot.low[k], k], [plot.high[k], k]], "whisker");
    chart.line([[0, k], [values[k], k]], "own");
    parts.forEach((p) => chart.line([[p.values[k], k - 0.38], [p.values[k], k + 0.38]], p.kind));
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

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

// The range of an axis for contributions: that of all plots, or what this plot needs.
function contributionRange(values, fraction) {
  return scale.isCommon && scale.contributions ? scale.contributions : rangeOf(values, fraction);
}

function drawNumber(plot, width, name) {
  const [low, high] = plot.limits, edges = [low, ...plot.cuts.map((c) => Math.max(low, Math.min(high, c))), high];
  const missing = plot.missing, strip = 46;
  const parts = hasParts(plot) ? PARTS : [];
  const all = [...plot.values, ...parts.flatMap(({ of }) => of(plot)), ...parts.map(({ ofMissing }) => missing && ofMissing(missing)), ...(plot.low || []), ...(plot.high || []), 0, ...(missing ? [missing.value, missing.low, missing.high] : [])];
  const y = contributionRange(all, 0.06), inside = (v) => (v === null ? null : Math.max(y[0], Math.min(y[1], v)));
  const chart = new Chart({
    width, height: 208 + strip, x: [low, high], y, bottom: 44 + strip, left: 62, yLabel: "adds to the score", xLabel: shorten(name, 36),
    right: missing ? 66 : 14, label: `Feature plot: what each value of ${shorten(name, 60)} adds to the score`,
  });
  chart.line([[low, 0], [high, 0]], "chance");
  if (plot.low) {
    chart.area(plot.values.flatMap((_, k) => [edges[k], edges[k + 1]].map((x) => [x, inside(plot.low[k]), inside(plot.high[k])])), "band");
  }
  const steps = (values) => values.flatMap((v, k) => [[edges[k], inside(v)], [edges[k + 1], inside(v)]]);
  parts.slice(1).forEach(({ kind, of }) => chart.line(steps(of(plot)), kind));
  chart.line(steps(plot.values), "own");
  if (missing) drawMissing(chart, missing, width, parts, inside);
  drawStrip(chart, plot, strip);
  return chart.svg;
}

function drawMissing(chart, missing, width, parts, inside) {
  const x = width - 27, y = chart.Y(inside(missing.value));
  if (missing.low !== null) chart.add("line", { class: "whisker", x1: x, x2: x, y1: chart.Y(inside(missing.low)), y2: chart.Y(inside(missing.high)) });
  parts.slice(1).forEach(({ kind, ofMissing }) => {
    const height = chart.Y(inside(ofMissing(missing)));
    chart.add("line", { class: kind, x1: x - 13, x2: x + 13, y1: height, y2: height });
  });
  chart.add("circle", { class: "dot", cx: x, cy: y, r: 4.5 });
  chart.text(x, chart.o.height - chart.o.bottom + 16, "missing", "middle", "quiet");
}

// Histogram of the values: positive rows upwards, negative rows downwards.
function drawStrip(chart, plot, height) {
  const most = Math.max(1e-9, ...plot.pos, ...plot.neg), middle = chart.o.height - 20 - height / 2;
  plot.pos.forEach((_, k) => {
    const left = chart.X(plot.edges[k]), right = chart.X(plot.edges[k + 1]);
    const width = Math.max(1, (right - left) * 0.9);
    [[plot.pos[k], "fill-pos", -1], [plot.neg[k], "fill-neg", 0]].forEach(([v, kind, side]) => {
      const size = (height / 2 - 3) * v / most;
      if (size > 0) chart.add("rect", { class: kind, x: left + (right - left - width) / 2, y: middle + side * size, width, height: size });
    });
  });
}

const MOST_BARS = 9, CARD_HEIGHT = 254;

// The categories of a card, in the order of their contributions: the most frequent ones if there are many.
function shownCategories(plot, most = MOST_BARS) {
  const frequency = (k) => plot.pos[k] + plot.neg[k];
  const order = plot.categories.map((_, k) => k);
  if (order.length <= most) return order;
  return order.sort((a, b) => frequency(b) - frequency(a)).slice(0, most).sort((a, b) => a - b);
}

const MISSING_WORDS = "missing or unknown";  // always fits

function drawCategories(plot, width, name, most = MOST_BARS) {
  const shown = shownCategories(plot, most), names = shown.map((k) => plot.categories[k]);
  const of = (values, missing) => (plot.missing ? [...shown.map((k) => values[k]), missing] : shown.map((k) => values[k]));
  const values = of(plot.values, plot.missing && plot.missing.value);
  const low = plot.low && of(plot.low, plot.missing && plot.missing.low), high = plot.high && of(plot.high, plot.missing && plot.missing.high);
  if (plot.missing) names.push(MISSING_WORDS);
  const parts = (hasParts(plot) ? PARTS.slice(1) : []).map((part) => ({
    kind: part.kind, values: of(part.of(plot), plot.missing && part.ofMissing(plot.missing)),
  }));
  // A plot of few categories is as high as that of a number, so that no card of a row is half empty.
  const height = Math.max(22, Math.min(100, (CARD_HEIGHT - 56) / names.length)), thick = Math.min(18, height * 0.5);
  const left = Math.min(190, width * 0.47), letters = Math.floor((left - 28) / 7.4);
  const x = contributionRange([...values, ...parts.flatMap((p) => p.values), ...(low || []), ...(high || []), 0], 0.08);
  const inside = (v) => Math.max(x[0], Math.min(x[1], v));
  const chart = new Chart({
    width, height: names.length * height + 56, x, y: [names.length - 0.5, -0.5], left, bottom: 46, xLabel: "adds to the score", yTicks: [],
    yLabel: shorten(name, 26), label: `Feature plot: what each category of ${shorten(name, 60)} adds to the score`,
  });
  names.forEach((category, k) => {
    chart.add("line", { class: "gridline", x1: left, x2: width - 18, y1: chart.Y(k), y2: chart.Y(k) });
    named(chart.text(left - 6, chart.Y(k) + 4, "", "end"), category, k < shown.length ? letters : MISSING_WORDS.length);
    const ends = [chart.X(0), chart.X(inside(values[k]))].sort((a, b) => a - b);
    if (parts.length) chart.line([[0, k], [inside(values[k]), k]], "own");
    const bar = chart.add("rect", { class: "category-bar", x: ends[0], y: chart.Y(k) - thick / 2, width: Math.max(1, ends[1] - ends[0]), height: thick });
    if (k < shown.length) bar.append(svg("title", {}, `${percent(plot.pos[shown[k]])} of the positive rows, ${percent(plot.neg[shown[k]])} of the negative rows`));
    if (low && low[k] !== null) chart.line([[inside(low[k]), k], [inside(high[k]), k]], "whisker");
    parts.forEach((p) => chart.line([[inside(p.values[k]), k - 0.38], [inside(p.values[k]), k + 0.38]], p.kind));
    chart.dot(inside(values[k]), k, "dot", 4.5);
  });
  chart.line([[0, -0.5], [0, names.length - 0.5]], "chance");
  return chart.svg;
}

function largestCell(plot) { return Math.max(1e-12, ...plot.grid.flat().map((v) => Math.abs(v || 0))); }

function drawSurface(plot, width) {
  return drawHeat(plot, width, scale.isCommon && scale.most ? scale.most : largestCell(plot));
}

// A heat map whose strongest colour is the contribution ``most``, and the key of its colours.
function drawHeat(plot, width, most) {
  const [first, second] = plot.axes, n = plot.grid.length, m = plot.grid[0].length;
  const left = 122, chart = new Chart({
    width, height: 250, x: [0, n], y: [0, m], left, xTicks: [], yTicks: [], xLabel: shorten(first.name, 30), yLabel: shorten(second.name, 26),
    label: `Heat map: joint contribution of ${shorten(first.name, 40)} and ${shorten(second.name, 40)}`,
  });
  plot.grid.forEach((column, i) => column.forEach((v, j) => {
    const cell = chart.box(i, i + 1, j, j + 1, v >= 0 ? "heat-pos" : "heat-neg");
    cell.setAttribute("fill-opacity", (Math.abs(v || 0) / most).toFixed(3));
    cell.append(svg("title", {}, `${first.labels[i]}; ${second.labels[j]}: ${significant(v, 3)}`));
  }));
  evenly(m, 5).forEach((j) => named(chart.text(left - 5, chart.Y(j + 0.5) + 4, "", "end", "quiet"), second.labels[j], 12));
  // Labels below a cell in the middle would overlap: the first, the last, and one between if there is space.
  const across = n > 2 && width > 330 ? [0, Math.floor((n - 1) / 2), n - 1] : n > 1 ? [0, n - 1] : [0];
  across.forEach((i) => {
    const [x, anchor] = i === 0 ? [chart.X(0), "start"] : i === n - 1 ? [chart.X(n), "end"] : [chart.X(i + 0.5), "middle"];
    named(chart.text(x, chart.o.height - 26, "", anchor, "quiet"), first.labels[i], across.length > 2 ? 10 : 16);
  });
  return [chart.svg, heatKey(width, left, most)];
}

// Up to ``most`` of the numbers below n, evenly spaced, the first and the last among them.
function evenly(n, most) {
  const count = Math.min(n, most);
  return Array.from({ length: count }, (_, k) => (count === 1 ? 0 : Math.round(k * (n - 1) / (count - 1))));
}

function heatKey(width, left, most) {
  const cells = 21, inner = width - left - 18, key = svg("svg", {
    role: "img", class: "heat-key", width, height: 34, viewBox: `0 0 ${width} 34`,
    "aria-label": `Key of the colours, from ${significant(-most, 2)} to ${significant(most, 2)}`,
  });
  for (let k = 0; k < cells; k += 1) {
    const v = 2 * k / (cells - 1) - 1;
    key.append(svg("rect", { class: v >= 0 ? "heat-pos" : "heat-neg", x: left + inner * k / cells, y: 2, width: inner / cells + 0.3, height: 12, "fill-opacity": Math.abs(v).toFixed(3) }));
  }
  key.append(svg("rect", { class: "cell", x: left, y: 2, width: inner, height: 12, fill: "none" }));
  [[left, -most, "start"], [left + inner / 2, 0, "middle"], [left + inner, most, "end"]].forEach(([x, v, anchor]) => {
    key.append(svg("text", { x, y: 28, "text-anchor": anchor, class: "quiet" }, (v > 0 ? "+" : "") + significant(v, 2)));
  });
  key.append(svg("text", { x: left - 6, y: 13, "text-anchor": "end", class: "quiet" }, "adds to score"));
  return key;
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

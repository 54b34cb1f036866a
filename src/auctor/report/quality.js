// Charts: distributions of the scores, KS, gain, lift, precision and recall, and calibration.

const HEIGHT = 270;

function chartIn(name, draw) {
  byId(name).closest("figure").hidden = false;
  drawing(byId(name), (width) => { const parts = draw(Math.min(width, 560)); update(); return parts; });
}

const classNames = [["pos", facts.data.positive], ["neg", facts.data.negative]];

function drawDistributions(width) {
  const d = facts.distributions, sums = [d.pos, d.neg].map((n) => n.reduce((a, b) => a + b, 0));
  const fractions = [d.pos, d.neg].map((n, c) => n.map((v) => v / sums[c]));
  const chart = new Chart({
    width, height: HEIGHT, x: [d.edges[0], d.edges[d.edges.length - 1]], y: [0, Math.max(...fractions.flat()) * 1.05],
    xLabel: "score", yLabel: "fraction of the class", yFormat: shortPercent,
    label: "Histograms of the scores of both classes",
  });
  ["fill-neg", "fill-pos"].forEach((kind, k) => {
    const own = fractions[1 - k], outline = [[d.edges[0], 0]];
    own.forEach((v, j) => outline.push([d.edges[j], v], [d.edges[j + 1], v]));
    outline.push([d.edges[d.edges.length - 1], 0]);
    chart.line(outline, kind);
  });
  return [chart.svg, legend(classNames.map(([kind, words]) => [`fill-${kind}`, words]))];
}

function drawKs(width) {
  const d = facts.distributions, low = d.edges[0], high = d.edges[d.edges.length - 1];
  const chart = new Chart({
    width, height: HEIGHT, x: [low, high], y: [0, 1], xLabel: "threshold", yLabel: "fraction flagged", yFormat: shortPercent,
    label: `KS ${facts.separation.ks.toFixed(3)}: fractions of both classes at or above each threshold`,
  });
  const inside = (t) => Math.max(low, Math.min(high, t === null ? high : t));
  [["neg", roc.false_positives, TOTAL_NEG], ["pos", roc.true_positives, TOTAL_POS]].forEach(([kind, n, total]) => {
    chart.line(roc.threshold.map((t, k) => [inside(t), n[k] / total]), kind);
  });
  const at = inside(roc.threshold[roc.youden]), ends = [roc.false_positives[roc.youden] / TOTAL_NEG, roc.true_positives[roc.youden] / TOTAL_POS];
  chart.line([[at, ends[0]], [at, ends[1]]], "gap");
  const right = chart.X(at) > width * 0.6;
  chart.text(chart.X(at) + (right ? -7 : 7), chart.Y((ends[0] + ends[1]) / 2) + 4,
    `KS ${facts.separation.ks.toFixed(3)}`, right ? "end" : "start", "halo");
  const now = chart.line([[at, 0], [at, 1]], "chance");
  followers.push((index) => now.setAttribute("d", chart.path([[inside(roc.threshold[index]), 0], [inside(roc.threshold[index]), 1]])));
  return [chart.svg, legend(classNames.concat([["gap", "largest difference"], ["chance", "threshold of the slider"]]))];
}

function gainPoints() {
  return roc.true_positives.map((tp, k) => [(tp + roc.false_positives[k]) / SAMPLE.size, tp / TOTAL_POS]);
}

function follow(chart, points) {
  const mark = chart.dot(0, 0, "mark", 6);
  followers.push((index) => {
    const [x, y] = points[index];
    mark.setAttribute("cx", chart.X(x));
    mark.setAttribute("cy", chart.Y(y));
  });
}

function drawGain(width) {
  const points = gainPoints();
  const chart = new Chart({
    width, height: HEIGHT, x: [0, 1], y: [0, 1], xLabel: "fraction of rows flagged", yLabel: "fraction of positives flagged",
    xFormat: shortPercent, yFormat: shortPercent, label: `Gain curve, accuracy ratio ${facts.separation.accuracy_ratio.toFixed(3)}`,
  });
  chart.line([[0, 0], [1, 1]], "chance");
  chart.line([[0, 0], [SAMPLE.prevalence, 1], [1, 1]], "gap");
  chart.line(points, "own");
  follow(chart, points);
  return [chart.svg, legend([["own", "the model"], ["gap", "perfect model"], ["chance", "random scores"]])];
}

function drawLift(width) {
  const points = gainPoints().map(([x, y]) => [x, x > 0 ? y / x : null]);
  points[0] = [0, points[1][1]];
  const chart = new Chart({
    width, height: HEIGHT, x: [0, 1], y: [0, Math.max(1.2, ...points.map((p) => p[1])) * 1.05],
    xLabel: "fraction of rows flagged", yLabel: "lift", xFormat: shortPercent, label: "Lift by the fraction of rows flagged",
  });
  chart.line([[0, 1], [1, 1]], "chance");
  chart.line(points, "own");
  follow(chart, points);
  return [chart.svg, legend([["own", "the model"], ["chance", "random scores"]])];
}

function drawPrecisionRecall(width) {
  const points = roc.true_positives.map((tp, k) => {
    const flagged = tp + roc.false_positives[k];
    return [tp / TOTAL_POS, flagged > 0 ? tp / flagged : null];
  });
  points[0] = [0, points[1][1]];
  const chart = new Chart({
    width, height: HEIGHT, x: [0, 1], y: [0, 1], xLabel: "recall (sensitivity)", yLabel: "precision (PPV)", xFormat: shortPercent, yFormat: shortPercent,
    label: `Precision and recall, average precision ${facts.separation.average_precision.toFixed(3)}`,
  });
  chart.line([[0, SAMPLE.prevalence], [1, SAMPLE.prevalence]], "chance");
  chart.line(points, "own");
  follow(chart, points);
  chart.text(width - 24, 22, `average precision ${facts.separation.average_precision.toFixed(3)}`, "end", "halo");
  return [chart.svg, legend([["own", "the model"], ["chance", "random scores"]])];
}

function drawCalibration(width) {
  const c = facts.calibration, top = rangeOf([...c.mean_probability, ...c.high, 0], 0)[1];
  const end = Math.min(1, top * 1.05), strip = 44;
  const chart = new Chart({
    width, height: HEIGHT + strip, bottom: 42 + strip, x: [0, end], y: [0, end], xLabel: "predicted probability", yLabel: "observed fraction",
    xFormat: shortPercent, yFormat: shortPercent, label: `Calibration, Brier score ${c.brier.toFixed(4)}`,
  });
  drawProbabilities(chart, c.histogram, end, strip);
  chart.line([[0, 0], [end, end]], "chance");
  c.mean_probability.forEach((p, k) => {
    if (c.low[k] !== null) chart.line([[p, c.low[k]], [p, c.high[k]]], "whisker");
    const dot = chart.dot(p, c.observed[k], "dot", 4);
    dot.append(svg("title", {}, `${percent(p)} predicted, ${percent(c.observed[k])} observed, ${amount(c.count[k])} rows`));
  });
  return [chart.svg, legend([["whisker", `${+(100 * facts.level).toPrecision(4)}% CI`], ["chance", "predicted = observed"]])];
}

// Histogram of the predicted probabilities, between the axis and its label.
function drawProbabilities(chart, histogram, end, strip) {
  const n = histogram.pos.length, rows = histogram.pos.map((v, k) => v + histogram.neg[k]);
  const most = Math.max(...rows), bottom = chart.o.height - 22;
  rows.forEach((count, k) => {
    const left = chart.X(Math.min(k / n, end)), right = chart.X(Math.min((k + 1) / n, end));
    const size = (strip - 6) * count / most;
    if (right <= left || count === 0) return;
    const bar = chart.add("rect", { class: "rows-bar", x: left + 0.5, y: bottom - size, width: Math.max(1, right - left - 1), height: size });
    bar.append(svg("title", {}, `${percent(k / n)} to ${percent((k + 1) / n)}: ${amount(count)} rows, ${amount(histogram.pos[k])} of them positive`));
  });
  chart.text(chart.o.left - 6, bottom - 2, "rows", "end", "quiet");
}

function startQuality() {
  chartIn("distributions", drawDistributions);
  chartIn("ks", drawKs);
  chartIn("gain", drawGain);
  chartIn("lift-chart", drawLift);
  chartIn("precision-recall", drawPrecisionRecall);
  chartIn("calibration", drawCalibration);
}

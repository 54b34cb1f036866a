// The ranking tree, with the higher scores on the left; and learning curves.

function drawTree(cells) {
  const leaves = 1 + Math.max(...cells.map((c) => c.x)), depth = Math.max(...cells.map((c) => c.depth));
  const step = Math.max(120, Math.min(190, 1100 / leaves)), level = 96, width = leaves * step + 20;
  const drawn = svg("svg", {
    role: "img", class: "tree-drawing", width, height: depth * level + 76, viewBox: `0 0 ${width} ${depth * level + 76}`,
    "aria-label": `Tree of ${cells.length} nodes; the model as text, below, has the same content`,
  });
  const at = (c) => [10 + (c.x + 0.5) * step, 24 + c.depth * level];
  const most = Math.max(...cells.map((c) => c.neg + c.pos), 1e-300);
  for (const c of cells) {
    for (const k of c.children) {
      const [x0, y0] = at(c), [x1, y1] = at(cells[k]);
      drawn.append(svg("path", { class: "branch", "stroke-width": (1 + 7 * (cells[k].neg + cells[k].pos) / most).toFixed(1), d: `M${x0} ${y0 + 20}C${x0} ${y0 + 62} ${x1} ${y0 + 40} ${x1} ${y1 - 20}` }));
    }
  }
  for (const c of cells) drawCell(drawn, c, cells, at(c), step);
  return drawn;
}

function drawCell(drawn, c, cells, [x, y], step) {
  const total = c.neg + c.pos, positive = total > 0 ? c.pos / total : 0.5, half = Math.min(step / 2 - 6, 52);
  const box = { x: x - half, y: y - 20, width: 2 * half, height: 40, rx: c.children.length ? 18 : 4 };
  drawn.append(svg("rect", { ...box, class: "mark-paper" }));
  drawn.append(svg("rect", { ...box, class: "cell heat-pos", "fill-opacity": (0.06 + 0.5 * positive).toFixed(3) }));
  drawn.append(svg("text", { x, y: y - 2, "text-anchor": "middle", class: "value" }, percent(positive)));
  drawn.append(svg("text", { x, y: y + 13, "text-anchor": "middle", class: "value" }, `of ${amount(total)}`));
  if (c.test) {
    const space = Math.abs(cells[c.children[1]].x - cells[c.children[0]].x) * step;
    const letters = Math.max(17, Math.floor(space / 6.5));
    const lines = twoLines(c.test, letters).map((words) => [words, shorten(words, letters)]);
    const wide = 6.4 * Math.max(...lines.map(([, short]) => Array.from(short).length)) + 6;
    const top = y + 42 - 7.5 * lines.length;
    drawn.append(svg("rect", { class: "mark-paper", x: x - wide / 2, y: top, width: wide, height: 15 * lines.length }));
    lines.forEach(([words], k) => {
      const label = svg("text", { x, y: top + 12 + 15 * k, "text-anchor": "middle" });
      drawn.append(named(label, words, letters));
    });
  }
  if (c.cut_off) drawn.append(svg("text", { x, y: y + 36, "text-anchor": "middle", class: "quiet" }, "continues"));
}

// The text on one line, or split in two at the space nearest to its middle.
function twoLines(text, letters) {
  const spaces = [...text.matchAll(/ /g)].map((match) => match.index);
  if (text.length <= letters || !spaces.length) return [text];
  const middle = spaces.reduce((a, b) => (Math.abs(b - text.length / 2) < Math.abs(a - text.length / 2) ? b : a));
  return [text.slice(0, middle), text.slice(middle + 1)];
}

function drawLearning(curve, width) {
  const chart = new Chart({
    width, height: 260, x: rangeOf(curve.x), y: rangeOf([...curve.y, ...(curve.low || []), ...(curve.high || [])], 0.05),
    xLabel: shorten(curve.x_label, 40), yLabel: shorten(curve.y_label, 40), left: 74,
    label: `${shorten(curve.title, 60)}: ${shorten(curve.y_label, 60)} against ${shorten(curve.x_label, 60)}`,
  });
  if (curve.low && curve.high) chart.area(curve.x.map((x, k) => [x, curve.low[k], curve.high[k]]), "band");
  chart.line(curve.x.map((x, k) => [x, curve.y[k]]).filter(([, y]) => y !== null), "own");
  return chart.svg;
}

function startModel() {
  if (facts.shape.tree) {
    byId("tree").hidden = false;
    byId("tree").tabIndex = 0;
    byId("tree").append(drawTree(facts.shape.tree));
    byId("tree").before(html("p", {}, "Each node shows the percentage of positives and the number of rows. Rows that meet its condition go to the left, where the scores are higher."));
  }
  byId("learning-details").hidden = !facts.learning.length;
  byId("learning-details").addEventListener("toggle", () => drawings.forEach((redraw) => redraw()));
  for (const curve of facts.learning) {
    const own = html("div", { class: "chart" });
    byId("learning").append(html("figure", {}, [own, named(html("figcaption"), curve.title, 80)]));
    drawing(own, (width) => drawLearning(curve, Math.min(width, 560)));
  }
}

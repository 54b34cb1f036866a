// A small chart: two axes, and marks in the units of the data. It is redrawn when the page changes its width.

const drawings = [];

// Draw into the element now, and again when its width has changed.
function drawing(element, draw) {
  let width = 0;
  const redraw = () => {
    const available = element.clientWidth;
    if (available === 0 || available === width) return;
    width = available;
    element.replaceChildren(...[].concat(draw(available)));
  };
  drawings.push(redraw);
  redraw();
}

let waiting = 0;
window.addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => drawings.forEach((redraw) => redraw()), 80);
});

// Round numbers between two ends, for ticks.
function ticksBetween(low, high, count) {
  const rough = (high - low) / count;
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push(k * step);
  // One tick shows no scale. The next smaller step has more.
  return ticks.length < 2 && count < 16 ? ticksBetween(low, high, 2 * count) : ticks;
}

// The range of the values, extended by a fraction of it on both sides.
function rangeOf(values, fraction) {
  const known = values.filter((v) => v !== null && Number.isFinite(v));
  let low = Math.min(...known), high = Math.max(...known);
  if (!known.length) return [0, 1];
  if (low === high) { low -= 0.5; high += 0.5; }
  const margin = (high - low) * (fraction || 0);
  return [low - margin, high + margin];
}

class Chart {
  // options: width, height, x: [low, high], y: [low, high], xLabel, yLabel, label, and optionally
  // left, bottom, right, xFormat, yFormat, xTicks, yTicks.
  constructor(options) {
    const o = Object.assign({ left: 58, right: 18, top: 10, bottom: 42 }, options);
    this.o = o;
    this.svg = svg("svg", {
      role: "img", width: o.width, height: o.height, viewBox: `0 0 ${o.width} ${o.height}`,
      "aria-label": o.label,
    });
    this.axes();
  }

  get inner() {
    const o = this.o;
    return { width: o.width - o.left - o.right, height: o.height - o.top - o.bottom };
  }

  X(x) { return this.o.left + this.inner.width * (x - this.o.x[0]) / (this.o.x[1] - this.o.x[0]); }

  Y(y) { return this.o.top + this.inner.height * (1 - (y - this.o.y[0]) / (this.o.y[1] - this.o.y[0])); }

  axes() {
    const o = this.o, { width, height } = this.inner, below = o.top + height;
    const count = Math.max(2, Math.min(5, Math.floor(width / 62)));
    for (const x of o.xTicks || ticksBetween(o.x[0], o.x[1], count)) {
      this.add("line", { class: "gridline", x1: this.X(x), x2: this.X(x), y1: o.top, y2: below });
      const words = (o.xFormat || significant)(x);
      // The last label must not be cut at the edge.
      this.text(Math.min(this.X(x), o.width - 3.6 * words.length), below + 16, words, "middle", "quiet");
    }
    for (const y of o.yTicks || ticksBetween(o.y[0], o.y[1], Math.max(2, Math.min(5, Math.floor(height / 36))))) {
      this.add("line", { class: "gridline", x1: o.left, x2: o.left + width, y1: this.Y(y), y2: this.Y(y) });
      this.text(o.left - 6, this.Y(y) + 4, (o.yFormat || significant)(y), "end", "quiet");
    }
    this.add("path", { class: "axis", d: `M${o.left} ${o.top}V${below}H${o.left + width}` });
    if (o.xLabel) this.text(o.left + width / 2, o.height - 6, o.xLabel, "middle");
    if (o.yLabel) {
      const label = this.text(0, 0, o.yLabel, "middle");
      label.setAttribute("transform", `translate(12 ${o.top + height / 2}) rotate(-90)`);
    }
  }

  add(tag, attributes, children) {
    const mark = svg(tag, attributes, children);
    this.svg.append(mark);
    return mark;
  }

  text(x, y, words, anchor, kind) {
    return this.add("text", { x, y, "text-anchor": anchor || "start", class: kind || "" }, String(words));
  }

  path(points) {
    return points.map(([x, y], k) => `${k ? "L" : "M"}${this.X(x).toFixed(1)} ${this.Y(y).toFixed(1)}`).join("");
  }

  line(points, kind) { return this.add("path", { class: kind, d: this.path(points) }); }

  // Points of [x, low, high] as an area; points whose ends are null are left out.
  area(points, kind) {
    const known = points.filter(([, low, high]) => low !== null && high !== null);
    if (!known.length) return null;
    const up = known.map(([x, , high]) => [x, high]), down = known.map(([x, low]) => [x, low]).reverse();
    return this.add("path", { class: kind, d: `${this.path(up.concat(down))}Z` });
  }

  dot(x, y, kind, radius) {
    return this.add("circle", { class: kind, cx: this.X(x), cy: this.Y(y), r: radius || 4 });
  }

  box(x0, x1, y0, y1, kind) {
    const left = this.X(Math.min(x0, x1)), top = this.Y(Math.max(y0, y1));
    return this.add("rect", {
      class: kind, x: left, y: top, width: Math.max(0.5, this.X(Math.max(x0, x1)) - left),
      height: Math.max(0, this.Y(Math.min(y0, y1)) - top),
    });
  }
}

// The legend, from pairs of a CSS class and a text.
function legend(entries) {
  return html("ul", { class: "legend" }, entries.map(([kind, words]) => {
    const sample = svg("svg", { width: 28, height: 12, "aria-hidden": "true" });
    if (kind.startsWith("fill") || kind.startsWith("heat") || kind === "band") {
      sample.append(svg("rect", { class: kind, x: 1, y: 1, width: 26, height: 10 }));
    } else sample.append(svg("line", { class: kind, x1: 1, x2: 27, y1: 6, y2: 6 }));
    return html("li", {}, [sample, named(html("span", { class: "name" }), words, 34)]);
  }));
}

const shortPercent = (x) => `${Math.round(1000 * x) / 10}%`;

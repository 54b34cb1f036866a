// Cards with the feature plots, the table of features, the search, and the strongest interaction.

const features = facts.features.rows;
const AT_ONCE = 12, MOST_LISTED = 200;
let nCards = AT_ONCE;
const cardOf = new Map();
let matching = features;

function intervalText(row) {
  const level = `${+(100 * facts.level).toPrecision(4)}% CI`;
  return row.low === null ? "" : ` (${level} ${row.low.toFixed(3)} to ${row.high.toFixed(3)})`;
}

function cardWords(row) {
  const importance = `importance ${percent(row.importance)}`;
  if (facts.features.kind === "trees") return importance;
  return `${importance}; score AUC ${row.auc.toFixed(3)}${intervalText(row)}`;
}

// The scale that all plots share: the contributions of all features, and the colours of all pairs.
const scale = { isCommon: true, contributions: null, most: null };

function commonScale() {
  const plots = features.map((row) => row.plot).filter(Boolean);
  const curves = plots.filter((plot) => plot.kind !== "surface"), maps = plots.filter((plot) => plot.kind === "surface");
  scale.contributions = rangeOf([0, ...curves.flatMap((plot) => [...plot.values, plot.missing ? plot.missing.value : 0])], 0.06);
  scale.most = Math.max(1e-12, ...maps.map(largestCell));
}

function switchScale() {
  scale.isCommon = !scale.isCommon;
  byId("scale").setAttribute("aria-pressed", String(!scale.isCommon));
  cardOf.clear();
  showCards();
}

function makeCard(row) {
  const own = html("div", { class: "chart" }), curve = html("div", { class: "chart" });
  const card = html("article", { class: "card" }, [
    named(html("h3"), row.name, 60),
    html("p", {}, cardWords(row)), own,
  ]);
  if (row.plot.roc) {
    const folded = html("details", {}, [html("summary", {}, "ROC curve of this feature alone"), curve]);
    folded.addEventListener("toggle", () => drawings.forEach((redraw) => redraw()));
    card.append(folded);
  }
  const kinds = { number: drawNumber, category: drawCategories, surface: drawSurface };
  const ready = () => {
    drawing(own, (width) => {
      const parts = [].concat(kinds[row.plot.kind](row.plot, Math.min(width, 520), row.name));
      if (hasParts(row.plot)) parts.push(legend(PARTS.map(({ kind, words }) => [kind, words])));
      return parts;
    });
    if (row.plot.kind === "category") card.append(...otherCategories(row));
    if (row.plot.roc) drawing(curve, (width) => drawFeatureRoc(row.plot, width, row.auc));
  };
  return { card, ready };
}

// The categories that the card has no place for.
function otherCategories(row) {
  const plot = row.plot, parts = [];
  const hidden = plot.categories.length - shownCategories(plot).length;
  if (hidden > 0) {
    const all = html("div", { class: "chart" });
    const folded = html("details", {}, [html("summary", {}, `${hidden} more categories`), all]);
    folded.addEventListener("toggle", () => drawings.forEach((redraw) => redraw()));
    drawing(all, (width) => drawCategories(plot, Math.min(width, 520), row.name, plot.categories.length));
    parts.push(folded);
  }
  if (plot.n_more > 0) parts.push(html("p", {}, `and ${plot.n_more} less frequent categories`));
  return parts;
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
  if (facts.features.kind === "trees") {
    return [row.kind === "surface" ? "pair" : row.kind, percent(row.importance), missing];
  }
  if (facts.features.kind !== "additive") {
    return [row.kind, row.importance === null ? "–" : percent(row.importance), missing];
  }
  if (row.range === 0) return ["not used", "–", "–", "0", missing];
  const ends = row.low === null ? "–" : `${row.low.toFixed(3)} to ${row.high.toFixed(3)}`;
  return [percent(row.importance), row.auc.toFixed(3), ends, significant(row.range, 3), missing];
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

// The heat map of the strongest interaction.
function showInteraction() {
  const found = facts.features.interactions;
  if (!found || !found.plot) return;
  const most = largestCell(found.plot);
  const own = html("div", { class: "chart" }), pair = found.rows[0].features;
  byId("interaction").append(html("article", { class: "card" }, [
    html("h3", { title: pair.join(" x ") }, pair.map((name) => shorten(name, 30)).join(" x ")),
    html("p", {}, `What the two features add together, beyond what each adds alone: at most ${significant(most, 3)}.`), own,
  ]));
  drawing(own, (width) => drawHeat(found.plot, Math.min(width, 520), most));
}

function startFeatures() {
  byId("search-line").hidden = features.length < 2;
  byId("scale").hidden = features.filter((row) => row.plot).length < 2;
  byId("scale").addEventListener("click", switchScale);
  commonScale();
  byId("search").addEventListener("input", search);
  byId("more").addEventListener("click", () => { nCards += 24; showCards(); });
  showCards();
  showInteraction();
}

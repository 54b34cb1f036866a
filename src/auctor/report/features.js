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
  if (facts.features.kind !== "trees") return `score AUC ${row.auc.toFixed(3)}${intervalText(row)}`;
  return `mean absolute contribution ${significant(row.importance, 3)} (${percent(row.fraction)} of all)`;
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
      const parts = [kinds[row.plot.kind](row.plot, Math.min(width, 520))];
      if (hasParts(row.plot)) parts.push(legend(PARTS.map(({ kind, words }) => [kind, words])));
      if (row.plot.n_more > 0) parts.push(html("p", {}, `and ${row.plot.n_more} less frequent categories`));
      return parts;
    });
    if (row.plot.roc) drawing(curve, (width) => drawFeatureRoc(row.plot, width, row.auc));
  };
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
  if (facts.features.kind === "trees") {
    return [row.kind === "surface" ? "pair" : row.kind, significant(row.importance, 3), percent(row.fraction), missing];
  }
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

// The heat map of the strongest interaction.
function showInteraction() {
  const found = facts.features.interactions;
  if (!found || !found.plot) return;
  const most = Math.max(...found.plot.grid.flat().map((v) => Math.abs(v || 0)));
  const own = html("div", { class: "chart" }), pair = found.rows[0].features;
  byId("interaction").append(html("article", { class: "card" }, [
    html("h3", { title: pair.join(" x ") }, pair.map((name) => shorten(name, 30)).join(" x ")),
    html("p", {}, `What the two features add together, beyond what each adds alone: at most ${significant(most, 3)}.`), own,
    legend([["heat-pos", "higher score"], ["heat-neg", "lower score"]]),
  ]));
  drawing(own, (width) => drawSurface(found.plot, Math.min(width, 520)));
}

function startFeatures() {
  byId("search-line").hidden = features.length < 2;
  byId("search").addEventListener("input", search);
  byId("more").addEventListener("click", () => { nCards += 24; showCards(); });
  showCards();
  showInteraction();
}

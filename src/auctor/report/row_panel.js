// The panel "One row": an example row or typed values, the score, and the reasons for it. Typed
// values are scored by scoreRow, the code that model.to_js() writes. The model of the page calls
// inputs by their number, and categories by their position.

const rowFacts = facts.row;
const MOST_REASONS = 10, FIRST_INPUTS = 12;
let rowValues = {}, rowChosen = 0, allInputs = false;

// The percentage of the rows of the table whose score is not higher.
function percentileOf(score) {
  return Math.max(0, rowFacts.quantiles.filter((value) => value <= score).length - 1);
}

function inputOf(j) {
  return rowFacts.inputs.find((one) => one.input === j);
}

function valueWords(j) {
  const value = rowValues[j], input = inputOf(j);
  if (input.categories) return value === null ? "missing or unknown" : input.categories[value];
  const isCode = rowFacts.model.inputs[j].missing.includes(value);  // such as -9
  return value === null || isCode ? "missing" : significant(value, 6);
}

// The first reasons, largest first, and the sum of the others.
function shortList(terms, rest, nMore) {
  const left = terms.slice(MOST_REASONS);
  return {
    terms: terms.slice(0, MOST_REASONS), nMore: nMore + left.length,
    rest: rest + left.reduce((sum, term) => sum + term.adds, 0),
  };
}

// Score and reasons: computed here, or stored for an example row; null where there are none.
function explainRow() {
  const stored = rowFacts.explained && rowChosen !== null ? rowFacts.explained[rowChosen] : null;
  const reasons = stored ? { base: stored.base, ...shortList(stored.terms, stored.rest, stored.n_more) } : null;
  if (rowFacts.kind === "examples") {
    return { score: rowFacts.scores[rowChosen], probability: rowFacts.probabilities[rowChosen], reasons };
  }
  const result = scoreRow(rowValues, rowFacts.model);
  if (!result.contributions) return { ...result, reasons };
  const isKnown = (j) => inputOf(j) !== undefined;  // features that never matter have no input
  const terms = result.contributions.filter((term) => term.inputs.every(isKnown)).map((term) => ({
    name: term.inputs.map((j) => inputOf(j).name).join(" x "),
    value: term.inputs.map(valueWords).join(", "),
    adds: term.adds,
  })).sort((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  return { ...result, reasons: { base: result.base, ...shortList(terms, 0, 0) } };
}

function reasonBar(adds, most) {
  const width = 150, middle = width / 2, size = middle * Math.abs(adds) / most;
  return svg("svg", { width, height: 14, viewBox: `0 0 ${width} 14`, "aria-hidden": "true" }, [
    svg("rect", { class: adds > 0 ? "bar-up" : "bar-down", x: adds > 0 ? middle : middle - size, y: 1, width: Math.max(0.5, size), height: 12 }),
    svg("path", { class: "axis", d: `M${middle} 0V14` }),
  ]);
}

// What a contribution to the score adds to the points, and the points of a score, as table cells.
// There are none for models without a scorecard.
function pointsCell(words) {
  return rowFacts.points ? [html("td", { class: "points" }, words())] : [];
}

function pointsAdded(adds) {
  const points = rowFacts.points.per_score * adds;
  return Math.abs(points) < 0.05 ? "0.0" : (points > 0 ? "+" : "") + points.toFixed(1);
}

// The value of a feature: a number or a short word stays whole, a long text may be broken.
function valueCell(value) {
  return value.length <= 12 ? html("td", { class: "whole" }, value) : named(html("td"), value, 20);
}

function reasonTable(result, score) {
  const most = Math.max(1e-12, ...result.terms.map((term) => Math.abs(term.adds)), Math.abs(result.rest));
  const plus = (value) => (value > 0 ? "+" : "") + significant(value, 3);
  const line = (name, value, adds) => html("tr", {}, [
    named(html("th", { scope: "row" }), name, 40), valueCell(value),
    html("td", {}, plus(adds)), ...pointsCell(() => pointsAdded(adds)),
    html("td", { class: "bars" }, [reasonBar(adds, most)]),
  ]);
  const lines = result.terms.map((term) => line(term.name, term.value, term.adds));
  if (result.nMore > 0) lines.push(line(`${result.nMore} more`, "", result.rest));
  const total = (name, value) => html("tr", {}, [html("th", { scope: "row" }, name), html("td"), html("td", {}, significant(value, 4)), ...pointsCell(() => pointsOf(value).toFixed(1)), html("td")]);
  lines.push(total(shorten(rowFacts.reference, 40), result.base), total(rowFacts.points ? "this row" : "score of this row", score));
  const head = ["feature", "value", "adds", ...(rowFacts.points ? ["points"] : []), ""].map((words) => html("th", { scope: "col" }, words));
  return html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Reasons for the score" }, [
    html("table", { id: "reason-table", class: rowFacts.points ? "with-points" : "" }, [
      html("caption", {}, [html("span", {}, rowFacts.points
        ? "What each value adds to the score, and to the points of a scorecard, largest first"
        : "What each value adds to the score, largest first")]),
      html("thead", {}, [html("tr", {}, head)]), html("tbody", {}, lines),
    ]),
  ]);
}

// The points of a scorecard with the default scale; null for models without a card.
function pointsOf(score) {
  return rowFacts.points ? rowFacts.points.start + rowFacts.points.per_score * score : null;
}

// The tiles of a row: each function returns a name, a value and an explanation, or null for no tile.
const rowTiles = [
  (result) => ["Score", significant(result.score, 4), `threshold of the model: ${significant(rowFacts.threshold, 4)}`],
  (result) => {
    const flagged = result.score >= rowFacts.threshold;
    return ["Predicted", shorten(flagged ? facts.data.positive : facts.data.negative, 24), flagged ? "at or above the threshold" : "below the threshold"];
  },
  (result) => ["Probability", percent(result.probability), "calibrated on the training rows"],
  (result) => ["Percentile", String(percentileOf(result.score)), "of the scores of this table"],
  (result) => {
    const points = pointsOf(result.score), scale = rowFacts.points;
    return points === null ? null : ["Points", points.toFixed(0), `fewer for higher scores; ${scale.base_score} at odds of ${scale.odds} to 1, ${scale.pdo} more double them`];
  },
];

function updateRow() {
  const result = explainRow(), shown = byId("row-result");
  const tiles = rowTiles.map((tile) => tile(result)).filter((tile) => tile !== null);
  shown.replaceChildren(...tiles.map(([name, value, words]) => html("div", {}, [
    html("dt", {}, name), html("dd", {}, [value, html("small", {}, words)]),
  ])));
  shown.dataset.score = String(result.score);
  shown.dataset.probability = String(result.probability);
  shown.dataset.points = rowFacts.points ? String(pointsOf(result.score)) : "";
  shown.dataset.base = result.reasons ? String(result.reasons.base) : "";
  byId("row-reasons").replaceChildren(result.reasons ? reasonTable(result.reasons, result.score) : html("p", {}, noReasons()));
}

// Why there is no list of reasons.
function noReasons() {
  return rowFacts.explained
    ? "This model has trees. The page computes its score for any values, but what each of them adds only for the rows of the table: choose one of these to see it."
    : "The score of this model is not a sum with a term for each feature, so that there is no list of what each value adds.";
}

function rowInput(input) {
  const j = input.input, label = named(html("label"), input.name, 40);
  if (input.categories) {
    const choice = html("select", {}, [html("option", { value: "" }, "missing or unknown"),
      ...input.categories.map((name, k) => html("option", { value: k }, shorten(name, 40)))]);
    choice.value = rowValues[j] === null ? "" : String(rowValues[j]);
    choice.addEventListener("change", () => changeRow(j, choice.value === "" ? null : Number(choice.value)));
    label.append(choice);
    return label;
  }
  const field = html("input", { type: "number", step: "any", placeholder: "missing" });
  field.value = rowValues[j] === null ? "" : String(rowValues[j]);
  field.addEventListener("input", () => {
    const good = !field.validity.badInput && Number.isFinite(Number(field.value));
    field.setAttribute("aria-invalid", String(!good));
    if (good) changeRow(j, field.value === "" ? null : Number(field.value));
  });
  label.append(field);
  return label;
}

function changeRow(j, value) {
  rowValues[j] = value;
  rowChosen = null;
  byId("row-choices").querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", "false"));
  updateRow();
}

function chooseRow(k) {
  rowChosen = k;
  byId("row-choices").querySelectorAll("button").forEach((button, i) => button.setAttribute("aria-pressed", String(i === k)));
  if (rowFacts.kind === "typed") {
    rowValues = { ...rowFacts.rows[k] };
    showInputs();
  }
  updateRow();
}

function showInputs() {
  const shown = allInputs ? rowFacts.inputs : rowFacts.inputs.slice(0, FIRST_INPUTS);
  byId("row-inputs").replaceChildren(...shown.map(rowInput));
  byId("row-more").hidden = shown.length === rowFacts.inputs.length;
  byId("row-more").textContent = `Show all ${rowFacts.inputs.length} values`;
}

function startRow() {
  if (!rowFacts) return;
  byId("row").hidden = false;
  const isTyped = rowFacts.kind === "typed";
  byId("row-intro").textContent = "Choose a row of this table by the percentile of its score" +
    (isTyped ? ", then change its values and see what the model makes of it. " : ". This model is too large for the page to score other values. ") +
    (rowFacts.reference ? `The reasons compare the row with ${rowFacts.reference}.` : "");
  rowFacts.percentiles.forEach((percentile, k) => {
    const button = html("button", { type: "button", "aria-pressed": "false" }, `${percentile}%`);
    button.addEventListener("click", () => chooseRow(k));
    byId("row-choices").append(button);
  });
  byId("row-inputs").hidden = !isTyped;
  byId("row-columns").classList.toggle("two", isTyped);
  byId("row-more").addEventListener("click", () => { allInputs = true; showInputs(); });
  chooseRow(rowFacts.percentiles.indexOf(90));
}

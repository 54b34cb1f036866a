// The panel "One row": an example row or typed values, the score, and the reasons for it.

const rowFacts = facts.row;
const MOST_REASONS = 10, FIRST_INPUTS = 12;
let rowValues = [], rowChosen = 0, allInputs = false;

// The percentage of the rows of the table whose score is not higher.
function percentileOf(score) {
  return Math.max(0, rowFacts.quantiles.filter((value) => value <= score).length - 1);
}

function valueWords(feature, value) {
  if (value === null) return feature.kind === "category" ? "missing or unknown" : "missing";
  return feature.kind === "category" ? feature.categories[value] : significant(value, 6);
}

// Score and reasons, largest first: computed here, or stored for an example row.
function explainRow() {
  if (rowFacts.kind === "examples") {
    const row = rowFacts.rows[rowChosen], terms = row.terms.slice(0, MOST_REASONS);
    const left = row.terms.slice(MOST_REASONS);
    const rest = row.rest + left.reduce((sum, term) => sum + term.adds, 0);
    return { score: row.score, base: row.base, probability: rowFacts.probabilities[rowChosen], terms, rest, nMore: row.n_more + left.length };
  }
  const result = scoreRow(rowFacts, rowValues);
  const terms = result.terms.map((term) => ({
    name: term.features.map((j) => rowFacts.features[j].name).join(" x "),
    value: term.features.map((j) => valueWords(rowFacts.features[j], rowValues[j])).join(", "),
    adds: term.adds,
  })).sort((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  const rest = terms.slice(MOST_REASONS).reduce((sum, term) => sum + term.adds, 0);
  return { ...result, terms: terms.slice(0, MOST_REASONS), rest, nMore: Math.max(0, terms.length - MOST_REASONS) };
}

function reasonBar(adds, most) {
  const width = 150, middle = width / 2, size = middle * Math.abs(adds) / most;
  return svg("svg", { width, height: 14, viewBox: `0 0 ${width} 14`, "aria-hidden": "true" }, [
    svg("rect", { class: adds > 0 ? "bar-up" : "bar-down", x: adds > 0 ? middle : middle - size, y: 1, width: Math.max(0.5, size), height: 12 }),
    svg("path", { class: "axis", d: `M${middle} 0V14` }),
  ]);
}

function reasonTable(result) {
  const most = Math.max(1e-12, ...result.terms.map((term) => Math.abs(term.adds)), Math.abs(result.rest));
  const plus = (value) => (value > 0 ? "+" : "") + significant(value, 3);
  const line = (name, value, adds) => html("tr", {}, [
    named(html("th", { scope: "row" }), name, 40), named(html("td"), value, 20),
    html("td", {}, plus(adds)), html("td", { class: "bars" }, [reasonBar(adds, most)]),
  ]);
  const lines = result.terms.map((term) => line(term.name, term.value, term.adds));
  if (result.nMore > 0) lines.push(line(`${result.nMore} more`, "", result.rest));
  const total = (name, value) => html("tr", {}, [html("th", { scope: "row" }, name), html("td"), html("td", {}, significant(value, 4)), html("td")]);
  lines.push(total(shorten(rowFacts.reference, 40), result.base), total("score of this row", result.score));
  const head = ["feature", "value", "adds", ""].map((words) => html("th", { scope: "col" }, words));
  return html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Reasons for the score" }, [
    html("table", { id: "reason-table" }, [
      html("caption", {}, [html("span", {}, "What each value adds to the score, largest first")]),
      html("thead", {}, [html("tr", {}, head)]), html("tbody", {}, lines),
    ]),
  ]);
}

function updateRow() {
  const result = explainRow(), flagged = result.score >= rowFacts.threshold;
  const tiles = [
    ["Score", significant(result.score, 4), `threshold of the model: ${significant(rowFacts.threshold, 4)}`],
    ["Predicted", shorten(flagged ? facts.data.positive : facts.data.negative, 24), flagged ? "at or above the threshold" : "below the threshold"],
    ["Probability", percent(result.probability), "calibrated on the training rows"],
    ["Percentile", String(percentileOf(result.score)), "of the scores of this table"],
  ];
  byId("row-result").replaceChildren(...tiles.map(([name, value, words]) => html("div", {}, [
    html("dt", {}, name), html("dd", {}, [value, html("small", {}, words)]),
  ])));
  byId("row-result").dataset.score = String(result.score);
  byId("row-result").dataset.probability = String(result.probability);
  byId("row-result").dataset.base = String(result.base);
  byId("row-reasons").replaceChildren(reasonTable(result));
}

function rowInput(feature, j) {
  const label = named(html("label"), feature.name, 40);
  if (feature.kind === "category") {
    const choice = html("select", {}, [html("option", { value: "" }, "missing or unknown"),
      ...feature.categories.map((name, k) => html("option", { value: k }, shorten(name, 40)))]);
    choice.value = rowValues[j] === null ? "" : String(rowValues[j]);
    choice.addEventListener("change", () => changeRow(j, choice.value === "" ? null : Number(choice.value)));
    label.append(choice);
    return label;
  }
  const field = html("input", { type: "number", step: "any", placeholder: "missing" });
  field.value = rowValues[j] === null ? "" : String(rowValues[j]);
  field.addEventListener("input", () => {
    const good = !field.validity.badInput;
    field.setAttribute("aria-invalid", String(!good));
    if (good) changeRow(j, field.value === "" ? null : Number(field.value));
  });
  label.append(field);
  return label;
}

function changeRow(j, value) {
  // Values such as -9 that the model takes as missing.
  rowValues[j] = rowFacts.features[j].missing.includes(value) ? null : value;
  byId("row-choices").querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", "false"));
  updateRow();
}

function chooseRow(k) {
  rowChosen = k;
  byId("row-choices").querySelectorAll("button").forEach((button, i) => button.setAttribute("aria-pressed", String(i === k)));
  if (rowFacts.kind === "additive") {
    rowValues = rowFacts.rows[k].slice();
    showInputs();
  }
  updateRow();
}

function showInputs() {
  const shown = allInputs ? rowFacts.features : rowFacts.features.slice(0, FIRST_INPUTS);
  byId("row-inputs").replaceChildren(...shown.map(rowInput));
  byId("row-more").hidden = shown.length === rowFacts.features.length;
  byId("row-more").textContent = `Show all ${rowFacts.features.length} values`;
}

function startRow() {
  if (!rowFacts) return;
  byId("row").hidden = false;
  const isTyped = rowFacts.kind === "additive";
  byId("row-intro").textContent = "Choose a row of this table by the percentile of its score" +
    (isTyped ? ", or change its values. " : ". The page itself scores only additive models of moderate size, and this is not one. ") +
    `The reasons compare the row with ${rowFacts.reference}.`;
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

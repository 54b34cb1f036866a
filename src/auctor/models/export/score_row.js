// Scores one row by the description of a model. It needs nothing but its arguments: the file that
// `to_js` writes and the panel of one row on the report page are the same code.

const LARGEST_TERM = 1e300;

// Score, probability, label and contributions of a row, an object of name -> value. null and NaN
// are missing values. The contributions are null for models whose score is not a sum of terms;
// otherwise base plus the sum of what they add is the score.
function scoreRow(row, model) {
  const values = model.inputs.map(() => null);
  for (const j of model.used) values[j] = readValue(model.inputs[j], row);
  const score = termValue(model.score, values), explained = model.explained;
  return {
    score,
    probability: probabilityOf(model.probability, score),
    label: model.classes[score >= model.threshold ? 1 : 0],
    base: explained ? explained.base : null,
    contributions: explained ? contributionsOf(explained, values, score) : null,
  };
}

// The value of a column in the row; null if it is missing.
function readValue(column, row) {
  const name = column.name, has = row instanceof Map ? row.has(name) : Object.hasOwn(row, name);
  if (!has) throw new RangeError(`the row has no ${JSON.stringify(name)}; give null for a missing value`);
  let value = row instanceof Map ? row.get(name) : row[name];
  if (value === null || value === undefined || Number.isNaN(value)) return null;
  if ((typeof value === "string") !== (column.kind === "text")) {
    throw new TypeError(`${JSON.stringify(name)} is ${JSON.stringify(value)}; give ${column.kind === "text" ? "text" : "a number"}`);
  }
  if (typeof value !== "string") value = Number(value);
  if (value === Infinity || value === -Infinity) {
    throw new RangeError(`${JSON.stringify(name)} is infinite; give a finite number, or null for missing`);
  }
  return column.missing.includes(value) ? null : value;
}

function termValue(term, values) {
  if (typeof term === "number") return term;
  switch (term.kind) {
    case "steps": return term.values[binOf(term.bins, values)];
    case "grid": return term.values[binOf(term.bins[0], values)][binOf(term.bins[1], values)];
    case "slope": {
      const value = values[term.input];
      return value === null ? term.missing : clip(term.weight * value);
    }
    case "times": return clip(term.weight * termValue(term.term, values));
    case "rounded": return roundTo(termValue(term.term, values), term.grid, term.bound);
    case "forest": return forestValue(term, values);
    case "program": return programValue(term, values);
    default: return addUp(term.terms.map((part) => termValue(part, values)));
  }
}

function addUp(numbers) {
  return numbers.reduce((total, number) => total + number);
}

function clip(value) {
  return Math.min(Math.max(value, -LARGEST_TERM), LARGEST_TERM);
}

// To a multiple of the grid, half to even: from `far` on, doubles have this distance.
function roundTo(value, grid, bound) {
  const far = 2 ** 52 * grid;
  if (!(Math.abs(value) < bound)) return value;
  return value >= 0 ? (value + far) - far : (value - far) + far;
}

// 0 for a missing value or unknown category, else the number of the bin from 1 on.
function binOf(bins, values) {
  const value = values[bins.input];
  if (value === null) return 0;
  if (bins.categories) return bins.categories.indexOf(value) + 1;
  let low = 0, high = bins.cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bins.cuts[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}

function leafValue(nodes, values) {
  let node = nodes[0];
  while (typeof node !== "number") {
    const value = values[node[0]], test = node[1];
    if (Array.isArray(test)) node = nodes[value !== null && test.includes(value) ? node[2] : node[3]];
    else if (value === null) node = nodes[node[4]];
    else node = nodes[value <= test ? node[2] : node[3]];
  }
  return node;
}

function forestValue(term, values) {
  const leaves = term.trees.map((nodes) => leafValue(nodes, values)), n = leaves.length;
  if (term.aggregate === "median") {
    leaves.sort((a, b) => a - b);
    return (leaves[(n - 1) >> 1] + leaves[n >> 1]) / 2;
  }
  return term.aggregate === "mean" ? addUp(leaves) / n : addUp(leaves);
}

// The expected value of the node where the row ends: chances are carried down the layers.
function programValue(term, values) {
  const layers = term.final.length - 1, chance = term.final.map((_, i) => (i ? 0 : 1));
  let total = 0, first = 0;
  for (let layer = 1; layer <= layers; layer++) {
    for (let i = layer - 1; i >= 0; i--) {
      const gate = term.gates[first + i];
      if (typeof gate === "number") {
        total += chance[i] * gate;
        chance[i] = 0;
      } else {
        const right = chance[i] * termValue(gate, values);
        chance[i + 1] += right;
        chance[i] -= right;
      }
    }
    first += layer;
  }
  return term.final.reduce((sum, value, i) => sum + chance[i] * value, total);
}

function probabilityOf(rule, score) {
  if (rule.scores) {
    let last = 0;
    while (last + 1 < rule.scores.length && rule.scores[last + 1] <= score) last++;
    return rule.probabilities[last];
  }
  const z = rule.slope * score + rule.offset, decayed = Math.exp(-Math.abs(z));
  return (z >= 0 ? 1 : decayed) / (1 + decayed);
}

// What each term adds compared with the average row: [{ name, inputs, adds }].
function contributionsOf(explained, values, score) {
  const adds = explained.terms.map((term) => termValue(term.adds, values));
  let largest = 0;
  adds.forEach((value, k) => { if (Math.abs(value) > Math.abs(adds[largest])) largest = k; });
  // What rounding has left over.
  for (let pass = 0; pass < 2; pass++) adds[largest] += score - (explained.constant + addUp(adds));
  return explained.terms.map((term, k) => ({ name: term.name, inputs: term.inputs, adds: adds[k] - term.average }));
}

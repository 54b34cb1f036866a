// Costs and gains at the threshold of the slider, and the threshold that is best for them.

const COST_FIELDS = { gain: "gain-tp", alarm: "cost-fp", miss: "cost-fn" };

// The number in a field; an empty one is 0, and one that is not a number is marked.
function costIn(name) {
  const field = byId(COST_FIELDS[name]), value = Number(field.value);
  const good = !field.validity.badInput && Number.isFinite(value);
  field.setAttribute("aria-invalid", String(!good));
  return good ? value : 0;
}

function readCosts() {
  return { gain: costIn("gain"), alarm: costIn("alarm"), miss: costIn("miss") };
}

// Gains minus costs for the number of rows and the fraction of positives that were chosen.
function profitAt(index, costs) {
  const r = ratesAt(index, chosen.prevalence);
  return chosen.size * (r.caught * costs.gain - r.alarms * costs.alarm - r.missed * costs.miss);
}

// Among equal thresholds the highest, which flags the fewest rows.
function bestFor(costs) {
  let best = 0;
  roc.threshold.forEach((_, k) => { if (profitAt(k, costs) > profitAt(best, costs)) best = k; });
  return best;
}

function updateCosts() {
  const costs = readCosts(), isGiven = Object.values(costs).some((value) => value !== 0);
  const total = profitAt(chosen.index, costs), more = total - profitAt(0, costs);
  byId("best-profit").disabled = !isGiven;
  show("profit", isGiven ? total : NaN, isGiven ? amount(total) : "–");
  show("profit-more", isGiven ? more : NaN, isGiven ? `${more > 0 ? "+" : ""}${amount(more)}` : "–");
}

function startCosts() {
  byId("costs").hidden = false;
  for (const name of Object.values(COST_FIELDS)) byId(name).addEventListener("input", updateCosts);
  byId("best-profit").addEventListener("click", () => { moveTo(bestFor(readCosts())); speak(); });
  followers.push(updateCosts);
  updateCosts();
}

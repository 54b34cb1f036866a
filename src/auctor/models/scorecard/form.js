"use strict";
// Adds up the points of the bins that are ticked, and shows the probability of the total.
(() => {
  const form = document.querySelector("form");
  const { digits, base, sign, factor, start, logOdds } = form.dataset;
  const shown = (points) => (digits === "" ? String(Number(points.toPrecision(7))) : points.toFixed(Number(digits)));
  const rounded = (points) => {
    if (digits === "") return points;
    const unit = 10 ** Number(digits);
    return Math.floor(points * unit + 0.5) / unit;
  };
  const termPoints = (term) => {
    const ticked = term.querySelector("input[type=radio]:checked");
    if (ticked) return Number(ticked.value);
    const number = term.querySelector("input[type=number]");
    return number && number.value !== "" ? rounded(Number(number.value) * Number(term.dataset.perUnit)) : null;
  };
  const update = () => {
    const terms = [...document.querySelectorAll("[data-term]")];
    const points = terms.map(termPoints);
    terms.forEach((term, k) => {
      term.querySelector("output").textContent = points[k] === null ? "" : shown(points[k]);
    });
    const isFull = points.every((own) => own !== null);
    const total = points.reduce((sum, own) => sum + (own ?? 0), Number(base));
    const z = Number(sign) * ((total - Number(start)) / Number(factor) + Number(logOdds));
    document.getElementById("sum").textContent = isFull ? shown(total - Number(base)) : "";
    document.getElementById("total").textContent = isFull ? shown(total) : "";
    document.getElementById("probability").textContent = isFull ? `${(100 / (1 + Math.exp(-z))).toFixed(2)}%` : "";
    document.getElementById("left").textContent = isFull ? "" : `${points.filter((own) => own === null).length} of ${terms.length} features are not filled in yet.`;
  };
  document.addEventListener("input", (event) => {
    // A number and the circle of its missing value exclude each other.
    const term = event.target.closest("[data-per-unit]");
    if (term && event.target.type === "number") term.querySelector("input[type=radio]").checked = false;
    if (term && event.target.type === "radio") term.querySelector("input[type=number]").value = "";
    update();
  });
  form.addEventListener("reset", () => setTimeout(update));
  update();
})();

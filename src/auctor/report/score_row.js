// The scorer of the panel "One row": an additive model applied to the values of one row.
// It needs nothing but its arguments, so that another scorer can take its place.

// The code of a value: 0 if it is missing or unknown, else 1 for the first bin or category.
// Numbers are compared with the upper ends of the bins; a category is given by its position among
// those of the feature, whose codes on the axis of a surface are listed there.
function codeOf(axis, value) {
  if (value === null || value === undefined || Number.isNaN(value)) return 0;
  if (axis.kind === "category") return axis.codes ? axis.codes[value] : value + 1;
  let low = 0, high = axis.cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (axis.cuts[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}

// The score of a row, and what each term adds to it compared with the average training row.
function scoreRow(model, values) {
  const terms = model.features.map((feature, j) => ({
    features: [j], adds: feature.steps[codeOf(feature, values[j])], average: feature.average,
  }));
  for (const surface of model.surfaces) {
    const [a, b] = surface.features.map((j, k) => codeOf(surface.axes[k], values[j]));
    terms.push({ features: surface.features, adds: surface.values[a][b], average: surface.average });
  }
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const score = model.constant + sum(terms.map((term) => term.adds));
  const z = model.calibration[0] * score + model.calibration[1];
  return {
    score,
    probability: z >= 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z)),
    base: model.constant + sum(terms.map((term) => term.average)),
    terms: terms.map((term) => ({ features: term.features, adds: term.adds - term.average })),
  };
}

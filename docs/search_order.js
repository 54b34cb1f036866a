// The order of search results: pages that tell what to do come before what was measured and proved.
var Scorer = {
  score: (result) => {
    const [docname, , , , score] = result;
    if (/^(start|guide)\//.test(docname) || docname === "command_line") return score + 12;
    if (/^(papers\/|changelog|design|contributing|releasing)/.test(docname)) return score - 25;
    return score;
  },
  // Sphinx's own numbers.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

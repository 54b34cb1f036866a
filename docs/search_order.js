// The order of search results: pages that tell what to do come before what was measured and proved.
var Scorer = {
  score: (result) => {
    const [docname, , , , score] = result;
    const isGuide = /^(start|guide)\//.test(docname) || docname === "command_line";
    // A word of the title says what a page is about; a word of the text may stand there by chance.
    if (isGuide) return score + (score >= 10 ? 20 : 3);
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

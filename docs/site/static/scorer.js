/* The order of what a search finds: guide and examples first, then the reference, decisions last. */
var Scorer = {
    score: result => {
        const [page, , , , points] = result;
        if (page.startsWith("docs/guide/"))
            return points + 40;
        if (page.startsWith("docs/decisions/"))
            return points - 40;
        return page.startsWith("examples/") ? points + 20 : points;
    },
    /* As Sphinx has them. */
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
};

// Steps as columns that are wide enough to be seen: several steps share one where there is little room.

const NARROWEST = 2.5; // pixels of a column

export function columnsFor(steps, width) {
  const stepsEach = Math.max(1, Math.ceil((steps * NARROWEST) / Math.max(1, width)));
  return { stepsEach, count: Math.ceil(steps / stepsEach) };
}

// The mean of each term over the steps of each column.
export function meanTerms(terms, { stepsEach, count }) {
  const columns = [];
  for (let k = 0; k < count; k++) {
    const rows = terms.slice(k * stepsEach, (k + 1) * stepsEach);
    columns.push(rows[0].map((_, term) => rows.reduce((sum, row) => sum + row[term], 0) / rows.length));
  }
  return columns;
}

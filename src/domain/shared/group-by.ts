/** Groups rows by key, in their order, and maps each with `map`. */
export function groupBy<R, K, T>(rows: Iterable<R>, keyOf: (row: R) => K, map: (row: R) => T): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [map(row)]);
    else group.push(map(row));
  }
  return groups;
}

// Sorting of a table by one of its columns.

export interface Order<Key> {
  key: Key;
  descending: boolean;
}

/** The order after a click on a column: numbers begin with the greatest, a second click turns it round. */
export function clicked<Key>(order: Order<Key>, key: Key): Order<Key> {
  return { key, descending: order.key === key ? !order.descending : true };
}

/** A sorted copy; rows that are equal keep their order. */
export function sorted<Row>(rows: Row[], value: (row: Row) => number | string, descending: boolean): Row[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(value(a), value(b)));
}

function compare(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

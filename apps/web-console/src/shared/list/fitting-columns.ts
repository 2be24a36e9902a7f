import type { ListColumns } from './list-kind.js';

/** Check boxes and buttons of a row, in rem. */
export const EDGES = { select: 2.75, actions: 7.25 } as const;

/** The columns that nobody chose: as many as there is room for. */
export function fittingColumns<E>(columns: ListColumns<E>, roomRem: number): readonly string[] {
  const candidates = Object.keys(columns).filter((name) => !columns[name]?.onDemand);
  const rank = (name: string): number => columns[name]?.givesWay ?? Infinity;
  const taken = new Set(candidates.filter((name) => rank(name) === Infinity));
  for (const name of candidates.filter((one) => !taken.has(one)).sort((a, b) => rank(b) - rank(a))) {
    if (widthOf(columns, [...taken, name]) <= roomRem) taken.add(name);
  }
  return candidates.filter((name) => taken.has(name));
}

/** What the columns need, in rem. */
export const widthOf = <E>(columns: ListColumns<E>, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (columns[name]?.width ?? 0), EDGES.select + EDGES.actions);

/** The value of `grid-template-columns` for every row. */
export const gridTemplate = <E>(columns: ListColumns<E>, names: readonly string[]): string =>
  [
    `${EDGES.select}rem`,
    ...names.map((name) =>
      name === 'name' ? `minmax(${columns[name]?.width}rem, 1fr)` : `${columns[name]?.width ?? 0}rem`,
    ),
    `${EDGES.actions}rem`,
  ].join(' ');

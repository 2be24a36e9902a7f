import type { ListColumns } from './list-kind.js';

/** The widths of the check boxes and the buttons of a row, in rem. */
export const EDGE_WIDTHS = { select: 2.75, actions: 7.25 } as const;

/** The default columns: as many as fit. */
export function fittingColumns<E>(columns: ListColumns<E>, widthRem: number): readonly string[] {
  const candidates = Object.keys(columns).filter((name) => !columns[name]?.hiddenByDefault);
  const rank = (name: string): number => columns[name]?.keepPriority ?? Infinity;
  const chosen = new Set(candidates.filter((name) => rank(name) === Infinity));
  for (const name of candidates.filter((one) => !chosen.has(one)).sort((a, b) => rank(b) - rank(a))) {
    if (widthOf(columns, [...chosen, name]) <= widthRem) chosen.add(name);
  }
  return candidates.filter((name) => chosen.has(name));
}

/** The width that the columns need, in rem. */
export const widthOf = <E>(columns: ListColumns<E>, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (columns[name]?.width ?? 0), EDGE_WIDTHS.select + EDGE_WIDTHS.actions);

/** The value of `grid-template-columns` for every row. */
export const gridTemplate = <E>(columns: ListColumns<E>, names: readonly string[]): string =>
  [
    `${EDGE_WIDTHS.select}rem`,
    ...names.map((name) =>
      name === 'name' ? `minmax(${columns[name]?.width}rem, 1fr)` : `${columns[name]?.width ?? 0}rem`,
    ),
    `${EDGE_WIDTHS.actions}rem`,
  ].join(' ');

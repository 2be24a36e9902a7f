/** Refusals that the page keeps; a flood takes the place of older ones. */
export const MAX_KEPT = 200;

/** A bounded list of live entries: those that are shown, and those that wait until the user asks for them. */
export interface LiveList<Entry> {
  /** The newest first. */
  readonly shown: readonly Entry[];
  readonly waiting: readonly Entry[];
  /** The number of entries that no longer fit, or that the listener left out. */
  readonly left: number;
}

export const emptyList = { shown: [], waiting: [], left: 0 };

/** @param entries the oldest first. The first ones are shown at once; later ones wait, so that no row moves */
export function received<Entry>(list: LiveList<Entry>, entries: readonly Entry[], skipped: number): LiveList<Entry> {
  const newest = entries.toReversed();
  const isFirst = list.shown.length === 0;
  const all = [...newest, ...(isFirst ? [] : list.waiting)];
  const kept = all.slice(0, MAX_KEPT);
  const left = list.left + skipped + all.length - kept.length;
  return isFirst ? { shown: kept, waiting: [], left } : { ...list, waiting: kept, left };
}

export function revealed<Entry>({ shown, waiting, left }: LiveList<Entry>): LiveList<Entry> {
  const all = [...waiting, ...shown];
  return { shown: all.slice(0, MAX_KEPT), waiting: [], left: left + Math.max(0, all.length - MAX_KEPT) };
}

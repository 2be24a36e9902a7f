import { useMemo, useState } from 'react';

export interface Selection<E> {
  readonly refs: ReadonlySet<string>;
  /** The selected entries that still exist, in the list's order. */
  readonly members: readonly E[];
  toggle(ref: string): void;
  /** Selects everything between the one last toggled and this one. */
  extendTo(ref: string): void;
  /** Selects exactly the entries shown. */
  all(): void;
  none(): void;
  only(refs: Iterable<string>): void;
}

/** The selected rows. Filtering does not change the selection. */
export function useSelection<E extends { readonly ref: string }>(
  entries: readonly E[],
  shown: readonly E[],
): Selection<E> {
  const [refs, setRefs] = useState<ReadonlySet<string>>(new Set());
  const [anchor, setAnchor] = useState<string>();
  const members = useMemo(() => (refs.size === 0 ? [] : entries.filter(({ ref }) => refs.has(ref))), [entries, refs]);

  return useMemo(() => {
    const only = (chosen: Iterable<string>): void => setRefs(new Set(chosen));
    const toggle = (ref: string): void => {
      setAnchor(ref);
      setRefs((before) => {
        const after = new Set(before);
        if (!after.delete(ref)) after.add(ref);
        return after;
      });
    };
    const extendTo = (ref: string): void => {
      const [from = -1, to = -1] = [anchor, ref]
        .map((end) => shown.findIndex((entry) => entry.ref === end))
        .sort((a, b) => a - b);
      if (from < 0) return toggle(ref);
      setRefs((before) => new Set([...before, ...shown.slice(from, to + 1).map((entry) => entry.ref)]));
    };
    return {
      refs,
      members,
      toggle,
      extendTo,
      only,
      all: () => only(shown.map(({ ref }) => ref)),
      none: () => only([]),
    };
  }, [refs, members, shown, anchor]);
}

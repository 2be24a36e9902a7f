import { useCallback, useMemo, useState } from 'react';
import type { VmView } from '@headgate/api-contracts';

export interface Selection {
  readonly refs: ReadonlySet<string>;
  /** Those of the selected that still exist, in the list's order. */
  readonly members: readonly VmView[];
  toggle(ref: string): void;
  /** Selects everything between the one last toggled and this one. */
  extendTo(ref: string): void;
  all(): void;
  none(): void;
}

/** Which rows are marked. Filtering does not unmark: the bar says how many are. */
export function useSelection(entries: readonly VmView[], shown: readonly VmView[]): Selection {
  const [refs, setRefs] = useState<ReadonlySet<string>>(new Set());
  const [anchor, setAnchor] = useState<string>();
  const members = useMemo(() => (refs.size === 0 ? [] : entries.filter(({ ref }) => refs.has(ref))), [entries, refs]);

  const toggle = useCallback((ref: string) => {
    setAnchor(ref);
    setRefs((before) => {
      const after = new Set(before);
      if (!after.delete(ref)) after.add(ref);
      return after;
    });
  }, []);

  const extendTo = (ref: string): void => {
    const ends = [anchor, ref].map((end) => shown.findIndex((vm) => vm.ref === end));
    const [from = -1, to = -1] = ends.sort((a, b) => a - b);
    if (from < 0) return toggle(ref);
    setRefs((before) => new Set([...before, ...shown.slice(from, to + 1).map((vm) => vm.ref)]));
  };

  return {
    refs,
    members,
    toggle,
    extendTo,
    all: () => setRefs(new Set(shown.map(({ ref }) => ref))),
    none: () => setRefs(new Set()),
  };
}

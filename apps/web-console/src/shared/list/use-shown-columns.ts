import { useEffect, useMemo, useState } from 'react';
import type { Instance } from '../instances/instance.js';
import { useRemembered } from '../storage/remembered.js';
import { fittingColumns } from './fitting-columns.js';
import type { ListKind } from './list-kind.js';

type Chosen = readonly string[] | undefined;

/**
 * The columns that somebody chose, in this browser, whatever room there is; otherwise as many as fit.
 * The third value is the ref of what the room is measured of.
 */
export function useShownColumns<E extends Instance>({
  collection,
  columns,
}: ListKind<E>): [readonly string[], (chosen: Chosen) => void, (element: HTMLElement | null) => void] {
  const [chosen, setChosen] = useRemembered<Chosen | null>(`columns-${collection}`, null);
  const [element, setElement] = useState<HTMLElement | null>(null);
  const [roomRem, setRoom] = useState(() => inRem(window.innerWidth));
  useEffect(() => {
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setRoom(inRem(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);

  const shown = useMemo(
    () =>
      chosen
        ? Object.keys(columns).filter((name) => name === 'name' || chosen.includes(name))
        : fittingColumns(columns, roomRem),
    [chosen, columns, roomRem],
  );
  return [shown, (next) => setChosen(next ?? null), setElement];
}

const inRem = (pixels: number): number =>
  pixels / (parseFloat(getComputedStyle(document.documentElement).fontSize) || 16);

import { useEffect, useMemo, useState } from 'react';
import type { Instance } from '../instances/instance.js';
import { useRemembered } from '../storage/remembered.js';
import { usePhone } from '../ui/use-compact.js';
import { fittingColumns } from './fitting-columns.js';
import type { ListKind } from './list-kind.js';

/** What a card has room for. */
const IN_CARDS: readonly string[] = ['name', 'status', 'node', 'cpuUsage', 'memUsage'];

type Chosen = readonly string[] | undefined;

/**
 * In cards the same columns for everyone; in lines, those that the user chose in this browser, or else as many as fit.
 * The third value is the ref for the element whose width counts.
 */
export function useShownColumns<E extends Instance>({
  collection,
  columns,
}: ListKind<E>): [readonly string[], (chosen: Chosen) => void, (element: HTMLElement | null) => void] {
  const [chosen, setChosen] = useRemembered<Chosen | null>(`columns-${collection}`, null);
  const [element, setElement] = useState<HTMLElement | null>(null);
  const [widthRem, setWidth] = useState(() => toRem(window.innerWidth));
  useEffect(() => {
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(toRem(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);

  const isPhone = usePhone();
  const shown = useMemo(
    () =>
      isPhone
        ? Object.keys(columns).filter((name) => IN_CARDS.includes(name))
        : chosen
          ? Object.keys(columns).filter((name) => name === 'name' || chosen.includes(name))
          : fittingColumns(columns, widthRem),
    [chosen, columns, isPhone, widthRem],
  );
  return [shown, (next) => setChosen(next ?? null), setElement];
}

const toRem = (pixels: number): number =>
  pixels / (parseFloat(getComputedStyle(document.documentElement).fontSize) || 16);

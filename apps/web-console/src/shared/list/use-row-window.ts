import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { poolSize, rowWindow, scrollTo, type RowLayout } from './row-window.js';

/** The scroll position of each list by its address, for the way back from an instance. */
const scrollPositions = new Map<string, number>();

interface VisibleRows {
  /** The first visible row. */
  readonly top: number;
  readonly rows: number;
}

/** Used until the table is measured. */
const ASSUMED_ROWS = 40;

/**
 * Tracks the visible rows of a scroller.
 * @param address of the list. A new address starts at the top, a known one where the user left it.
 */
export function useRowWindow(count: number, address: string, layout: RowLayout) {
  const { rowPx } = layout;
  const scroller = useRef<HTMLDivElement>(null);
  const [visible, setVisible] = useState<VisibleRows>(() => ({
    top: Math.floor((scrollPositions.get(address) ?? 0) / rowPx),
    rows: ASSUMED_ROWS,
  }));

  const shown = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (!scroller.current || shown.current === address) return;
    scroller.current.scrollTop = shown.current === undefined ? (scrollPositions.get(address) ?? 0) : 0;
    shown.current = address;
  }, [address]);

  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const measure = (): void => {
      const next = {
        top: Math.floor(element.scrollTop / rowPx),
        rows: Math.ceil(element.clientHeight / rowPx),
      };
      setVisible((before) => (sameWindow(before, next, count) ? before : next));
    };
    // Rendered within the frame that scrolls; otherwise rows would be missing in that frame.
    const onScroll = (): void => {
      scrollPositions.set(address, element.scrollTop);
      flushSync(measure);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [count, address, rowPx]);

  const showRow = useCallback(
    (index: number): void => {
      const element = scroller.current;
      if (!element) return;
      const top = scrollTo(index, element.scrollTop, element.clientHeight, layout);
      if (top !== undefined) element.scrollTop = top;
    },
    [layout],
  );

  return {
    scroller,
    top: visible.top,
    window: rowWindow(visible.top, visible.rows, count),
    pool: poolSize(visible.rows),
    showRow,
  };
}

function sameWindow(a: VisibleRows, b: VisibleRows, count: number): boolean {
  const one = rowWindow(a.top, a.rows, count);
  const other = rowWindow(b.top, b.rows, count);
  return one.first === other.first && one.end === other.end;
}

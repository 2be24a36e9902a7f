import type { Instance } from '../instances/instance.js';
import { moveActive } from './move-active.js';
import type { Selection } from './use-selection.js';

interface RowKeys<E> {
  rows: readonly E[];
  /** The first visible row, where keyboard navigation starts. */
  top: number;
  /** The ref of the active row. Its index changes with the fleet. */
  active: string | undefined;
  setActive: (ref: string) => void;
  selection: Selection<E>;
  open: (entry: E) => void;
  showRow: (index: number) => void;
  /** Leaves the row: Escape, when nothing is selected. */
  leave: () => void;
}

/** The letters that walk through the rows as the arrow keys do. */
const WALKS: Readonly<Record<string, string>> = { j: 'ArrowDown', k: 'ArrowUp' };

/**
 * Keyboard navigation. The table is one stop of the Tab key. Arrow keys, J and K move between rows (with Shift, arrow
 * keys select), Right moves to the links and buttons of a row, Left and Escape move back. Enter opens, Space selects,
 * Ctrl+A selects all.
 */
export function useRowKeys<E extends Instance>({
  rows,
  top,
  active,
  setActive,
  selection,
  open,
  showRow,
  leave,
}: RowKeys<E>) {
  const activeIndex = active === undefined ? -1 : rows.findIndex(({ ref }) => ref === active);
  const row = rows[activeIndex];

  const move = (table: HTMLElement, index: number, select: boolean): void => {
    const next = rows[index];
    if (!next) return;
    if (select && row && !selection.refs.has(row.ref)) selection.toggle(row.ref);
    if (select) selection.extendTo(next.ref);
    setActive(next.ref);
    showRow(index);
    table.focus();
  };

  /** Moves within a row. Returns whether it handled the key. */
  const moveInRow = (table: HTMLElement, target: Element, key: string): boolean => {
    const element =
      target === table ? document.getElementById(`row-${active}`) : target.closest('[role="row"][data-ref]');
    const controls = [...(element?.querySelectorAll<HTMLElement>('input, a, button') ?? [])];
    const at = controls.indexOf(target as HTMLElement);
    if (key === 'ArrowRight') controls[Math.min(at + 1, controls.length - 1)]?.focus();
    else if (key === 'ArrowLeft' || (key === 'Escape' && at >= 0)) (controls[at - 1] ?? table).focus();
    else return false;
    return controls.length > 0;
  };

  const onKeyDown = (event: React.KeyboardEvent<HTMLElement>): void => {
    const { currentTarget: table, key } = event;
    const target = event.target as Element;
    if (target !== table && !target.closest('[data-ref]')) return;
    const onTable = target === table;
    const index =
      event.ctrlKey || event.metaKey || event.altKey
        ? undefined
        : moveActive(WALKS[key] ?? key, row ? activeIndex : top - 1, rows.length);
    if (index !== undefined) move(table, index, event.shiftKey);
    else if ((event.ctrlKey || event.metaKey) && key === 'a') selection.all();
    else if (moveInRow(table, target, key)) event.stopPropagation();
    else if (onTable && key === 'Enter' && row) open(row);
    else if (onTable && key === ' ' && row) selection.toggle(row.ref);
    else if (onTable && key === 'Escape' && selection.refs.size > 0) selection.none();
    else if (onTable && key === 'Escape') leave();
    else return;
    event.preventDefault();
  };

  return { activeIndex, onKeyDown };
}

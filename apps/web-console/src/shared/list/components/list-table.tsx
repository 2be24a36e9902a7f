import { useLayoutEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import type { RowAction } from '../../actions/row-actions.js';
import type { Instance } from '../../instances/instance.js';
import { usePhone } from '../../ui/use-compact.js';
import { PAGE_FOCUS } from '../../location/use-page-focus.js';
import { gridTemplate, widthOf } from '../fitting-columns.js';
import { listQueryParams } from '../list-query.js';
import { CARDS, LINES } from '../row-window.js';
import { useRowKeys } from '../use-row-keys.js';
import { useRowWindow } from '../use-row-window.js';
import { ListHead, type ListHeadProps } from './list-head.js';
import { ListRow, rowId } from './list-row.js';

interface ListTableProps<E extends Instance> extends ListHeadProps<E> {
  actionsOf: (entry: E) => readonly RowAction[];
  onAction: (entry: E, action: RowAction['name'], at: { x: number; y: number }) => void;
  /** The row that the keyboard is on, and that is peeked at while the peek is open. */
  active: string | undefined;
  setActive: (ref: string) => void;
  /** Shows the details of a row. */
  onPeek: (ref: string) => void;
  onLeave: () => void;
}

/** Renders only the visible rows, positioned in a box with the height of the whole list. */
export function ListTable<E extends Instance>(props: ListTableProps<E>) {
  const { kind, rows, shown, query, onSort, selection, actionsOf, onAction } = props;
  const { active, setActive, onPeek, onLeave } = props;
  const { columns } = kind;
  const [, navigate] = useLocation();
  const address = `${kind.path}?${listQueryParams(query)}`;
  const isCards = usePhone();
  const layout = isCards ? CARDS : LINES;
  const { scroller, top, window: rendered, pool, showRow } = useRowWindow(rows.length, address, layout);
  // A row element is reused for another entry. The focus must not move to that entry.
  useLayoutEffect(() => {
    const row = document.activeElement?.closest<HTMLElement>('.hg-row');
    if (row && row.dataset['ref'] !== active) scroller.current?.focus({ preventScroll: true });
  });
  const open = (entry: E): void => navigate(kind.pageOf(entry));
  /** The entry of the last first click: the panel that it opens may move the rows under the second click. */
  const clicked = useRef<string>(undefined);
  const { activeIndex, onKeyDown } = useRowKeys({
    rows,
    top,
    active,
    setActive,
    selection,
    open,
    showRow,
    leave: onLeave,
  });
  const isRendered = activeIndex >= rendered.first && activeIndex < rendered.end;

  /** One handler for all rows, so that rows have no handlers of their own. */
  const onClick = (event: React.MouseEvent<HTMLElement>): void => {
    const { target } = event;
    const entry = entryOf(target, rows);
    if (!entry || !(target instanceof Element)) return;
    const button = target.closest<HTMLElement>('[data-do]');
    const action = button?.dataset['do'];
    if (action === 'select') return (event.shiftKey ? selection.extendTo : selection.toggle)(entry.ref);
    if (button && action !== undefined) {
      const { left, bottom } = button.getBoundingClientRect();
      if (button.getAttribute('aria-disabled') !== 'true')
        onAction(entry, action as RowAction['name'], { x: left, y: bottom });
      return;
    }
    const link = target.closest('a');
    if (link && !isPlainClickOnName(event, link)) return;
    event.preventDefault();
    if (event.shiftKey) return selection.extendTo(entry.ref);
    if (event.detail > 1) return;
    clicked.current = entry.ref;
    onPeek(entry.ref);
  };
  /**
   * The first click of a double click opens the panel, which may move the rows, so that the second one hits the header
   * or another row. It counts for the row of the first one.
   */
  const onClickCapture = (event: React.MouseEvent<HTMLElement>): void => {
    if (event.detail === 1) clicked.current = undefined;
    const isOnHeader = event.target instanceof Element && event.target.closest('[data-ref]') === null;
    if (event.detail > 1 && clicked.current !== undefined && isOnHeader) event.stopPropagation();
  };
  const onDoubleClick = ({ target }: React.MouseEvent<HTMLElement>): void => {
    const entry = rows.find(({ ref }) => ref === clicked.current);
    if (entry && target instanceof Element && !target.closest('[data-do]')) open(entry);
  };
  const onContextMenu = (event: React.MouseEvent<HTMLElement>): void => {
    const entry = entryOf(event.target, rows);
    if (!entry) return;
    event.preventDefault();
    setActive(entry.ref);
    onAction(entry, 'menu', { x: event.clientX, y: event.clientY });
  };

  const onFocus = (event: React.FocusEvent): void => {
    const ref = event.target.closest<HTMLElement>('[data-ref]')?.dataset['ref'];
    if (ref !== undefined) setActive(ref);
  };

  return (
    <div
      ref={scroller}
      className={isCards ? 'hg-table hg-table--cards' : 'hg-table'}
      role="grid"
      aria-label={kind.title}
      aria-rowcount={rows.length + 1}
      aria-multiselectable
      aria-activedescendant={active !== undefined && isRendered ? rowId(active) : undefined}
      {...PAGE_FOCUS}
      tabIndex={0}
      style={{ '--hg-columns': gridTemplate(columns, shown) } as React.CSSProperties}
      onKeyDown={onKeyDown}
      onFocus={onFocus}
      onClickCapture={onClickCapture}
      onDoubleClick={onDoubleClick}
    >
      <ListHead kind={kind} rows={rows} shown={shown} query={query} onSort={onSort} selection={selection} />
      <div
        role="rowgroup"
        className="hg-rows"
        style={{ height: rows.length * layout.rowPx, minWidth: `${widthOf(columns, shown)}rem` }}
        onClick={onClick}
        onContextMenu={onContextMenu}
      >
        {rows.slice(rendered.first, rendered.end).map((entry, offset) => (
          <ListRow
            key={(rendered.first + offset) % pool}
            entry={entry}
            name={entry.name}
            entryRef={entry.ref}
            stale={entry.stale === true}
            index={rendered.first + offset}
            rowPx={layout.rowPx}
            columns={columns}
            shown={shown}
            selected={selection.refs.has(entry.ref)}
            active={entry.ref === active}
            actionsOf={actionsOf}
          />
        ))}
      </div>
    </div>
  );
}

function entryOf<E extends Instance>(target: EventTarget, rows: readonly E[]): E | undefined {
  const ref = target instanceof Element ? target.closest<HTMLElement>('[data-ref]')?.dataset['ref'] : undefined;
  return ref === undefined ? undefined : rows.find((row) => row.ref === ref);
}

/** Keys and clicks with a modifier follow the link, as everywhere. Other links of a row lead to other pages. */
const isPlainClickOnName = (event: React.MouseEvent, link: Element): boolean =>
  event.detail > 0 && !event.ctrlKey && !event.metaKey && link.closest('[role="rowheader"]') !== null;

import { useLayoutEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { Instance } from '../../instances/instance.js';
import { PAGE_FOCUS } from '../../location/use-page-focus.js';
import { gridTemplate, widthOf } from '../fitting-columns.js';
import type { RowAction } from '../list-kind.js';
import { listQueryParams } from '../list-query.js';
import { ROW_HEIGHT_PX } from '../row-window.js';
import { useRowKeys } from '../use-row-keys.js';
import { useRowWindow } from '../use-row-window.js';
import { ListHead, type ListHeadProps } from './list-head.js';
import { ListRow, rowId } from './list-row.js';

interface ListTableProps<E extends Instance> extends ListHeadProps<E> {
  actionsOf: (entry: E) => readonly RowAction[];
  onAction: (entry: E, action: string) => void;
}

/** Renders only the visible rows, positioned in a box with the height of the whole list. */
export function ListTable<E extends Instance>(props: ListTableProps<E>) {
  const { kind, rows, shown, query, onSort, selection, actionsOf, onAction } = props;
  const { columns } = kind;
  const [, navigate] = useLocation();
  const address = `${kind.path}?${listQueryParams(query)}`;
  const { scroller, top, window: rendered, pool, showRow } = useRowWindow(rows.length, address);
  const [active, setActive] = useState<string>();
  // A row element is reused for another entry. The focus must not move to that entry.
  useLayoutEffect(() => {
    const row = document.activeElement?.closest<HTMLElement>('.hg-row');
    if (row && row.dataset['ref'] !== active) scroller.current?.focus({ preventScroll: true });
  });
  const open = (entry: E): void => navigate(kind.pageOf(entry));
  const { activeIndex, onKeyDown } = useRowKeys({ rows, top, active, setActive, selection, open, showRow });
  const isRendered = activeIndex >= rendered.first && activeIndex < rendered.end;

  /** One handler for all rows, so that rows have no handlers of their own. */
  const onClick = (event: React.MouseEvent<HTMLElement>): void => {
    const target = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-do]') : null;
    const ref = target?.closest<HTMLElement>('[data-ref]')?.dataset['ref'];
    const entry = ref === undefined ? undefined : rows.find((row) => row.ref === ref);
    const action = target?.dataset['do'];
    if (!entry || action === undefined) return;
    if (action === 'select') return (event.shiftKey ? selection.extendTo : selection.toggle)(entry.ref);
    if (target?.getAttribute('aria-disabled') !== 'true') onAction(entry, action);
  };

  const onFocus = (event: React.FocusEvent): void => {
    const ref = event.target.closest<HTMLElement>('[data-ref]')?.dataset['ref'];
    if (ref !== undefined) setActive(ref);
  };

  return (
    <div
      ref={scroller}
      className="hg-table"
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
    >
      <ListHead kind={kind} rows={rows} shown={shown} query={query} onSort={onSort} selection={selection} />
      <div
        role="rowgroup"
        className="hg-rows"
        style={{ height: rows.length * ROW_HEIGHT_PX, minWidth: `${widthOf(columns, shown)}rem` }}
        onClick={onClick}
      >
        {rows.slice(rendered.first, rendered.end).map((entry, offset) => (
          <ListRow
            key={(rendered.first + offset) % pool}
            entry={entry}
            name={entry.name}
            entryRef={entry.ref}
            stale={entry.stale === true}
            index={rendered.first + offset}
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

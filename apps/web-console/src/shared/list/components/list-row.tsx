import { t } from '@lingui/core/macro';
import { memo, type ReactNode } from 'react';
import { Icon } from '../../ui/icon.js';
import type { RowAction } from '../../actions/row-actions.js';
import type { ListColumn, ListColumns } from '../list-kind.js';

interface ListRowProps<E> {
  entry: E;
  name: string;
  entryRef: string;
  stale: boolean;
  /** Its index among all rows, from 0. */
  index: number;
  /** Its height, in pixels. */
  rowPx: number;
  columns: ListColumns<E>;
  shown: readonly string[];
  selected: boolean;
  active: boolean;
  actionsOf: (entry: E) => readonly RowAction[];
}

export const rowId = (ref: string): string => `row-${ref}`;

/**
 * A row of plain elements without hooks and handlers, because rows are added and removed while scrolling. The table
 * handles the clicks: `data-do` names the command.
 */
function Row<E>(props: ListRowProps<E>) {
  const { entry, name, entryRef, stale, index, rowPx, columns, shown, selected, active, actionsOf } = props;
  return (
    <div
      role="row"
      id={rowId(entryRef)}
      data-ref={entryRef}
      aria-rowindex={index + 2}
      aria-selected={selected}
      className={`hg-row${active ? ' hg-row--active' : ''}${stale ? ' hg-row--stale' : ''}`}
      style={{ top: index * rowPx }}
    >
      <div role="gridcell" className="hg-cell hg-cell--select" data-do="select">
        <input type="checkbox" tabIndex={-1} aria-label={t`Select ${name}`} checked={selected} readOnly />
      </div>
      {shown.map((column) => {
        const cell = columns[column]?.cell(entry);
        return (
          <div
            key={column}
            data-column={column}
            data-label={columns[column]?.cardLabel}
            role={column === 'name' ? 'rowheader' : 'gridcell'}
            className={cellClass(columns[column], entry, cell)}
            translate={columns[column]?.isData && 'no'}
          >
            {cell}
          </div>
        );
      })}
      <div role="gridcell" className="hg-cell hg-cell--actions">
        {actionsOf(entry).map((action) => (
          <button
            key={action.name}
            type="button"
            tabIndex={-1}
            className="hg-icon-button"
            aria-label={action.fullLabel}
            title={action.reason ?? action.label}
            aria-disabled={action.reason !== undefined}
            data-do={action.name}
          >
            <Icon name={action.icon} />
          </button>
        ))}
      </div>
    </div>
  );
}

export const ListRow = memo(Row) as typeof Row;

/** The characters that always fit into a rem. */
const CHARACTERS_PER_REM = 1.7;
const PADDING_REM = 1;

/** Clipping costs time in every frame, so only cells that may be too long are clipped. */
function cellClass<E>(column: ListColumn<E> | undefined, entry: E, cell: ReactNode): string {
  if (column?.numeric) return 'hg-cell hg-cell--numeric';
  const length =
    column?.length?.(entry) ?? (typeof cell === 'string' ? cell.length : cell === undefined ? 0 : Infinity);
  const fits = length <= CHARACTERS_PER_REM * ((column?.width ?? 0) - PADDING_REM);
  return fits ? 'hg-cell' : 'hg-cell hg-cell--clipped';
}

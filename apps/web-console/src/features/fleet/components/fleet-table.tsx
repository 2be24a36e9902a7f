import { Table, Tbody, Thead, Tr } from '@patternfly/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { VmView } from '@headgate/api-contracts';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { places } from '../../../shared/location/places.js';
import { useActionRefusal } from '../../../shared/power/use-action-refusal.js';
import { usePowerAction } from '../../../shared/power/use-power-action.js';
import { COLUMN, type ColumnName } from '../fleet-columns.js';
import type { FleetPlace } from '../fleet-place.js';
import type { Selection } from '../selection.js';
import { FleetRow, rowId } from './fleet-row.js';
import { moveActive } from '../move-active.js';
import { rowAction } from './row-actions.js';

const ROW_HEIGHT = 36;

interface FleetTableProps {
  rows: readonly VmView[];
  columns: readonly ColumnName[];
  place: FleetPlace;
  onSort: (sort: Pick<FleetPlace, 'sort' | 'descending'>) => void;
  selection: Selection;
}

/** Draws only the rows in sight; the rest is two empty rows of the right height. */
export function FleetTable({ rows, columns, place, onSort, selection }: FleetTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [, navigate] = useLocation();
  const [active, setActive] = useState(-1);
  // eslint-disable-next-line react-hooks/incompatible-library -- no compiler memoizes this component
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const refusal = useActionRefusal();
  const { mutate: power } = usePowerAction();
  const items = virtual.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  const activeRow = rows[active];
  const allSelected = rows.length > 0 && rows.every(({ ref }) => selection.refs.has(ref));

  /** Clicks are taken here, so that rows need no handler of their own and stay as they are while scrolling. */
  const onRowClick = (event: React.MouseEvent): void => {
    const target = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-ref]') : null;
    const ref = target?.dataset['ref'];
    const vm = rows.find((row) => row.ref === ref);
    if (!target || !vm) return;
    if (target instanceof HTMLInputElement) (event.shiftKey ? selection.extendTo : selection.toggle)(vm.ref);
    else if (target.dataset['do'] === 'console') navigate(places.vm(vm, 'console'));
    else if (refusal(rowAction(vm), vm) === undefined) power({ vm, action: rowAction(vm) });
  };

  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const next = moveActive(event.key, active, rows.length);
    if (next !== undefined) {
      event.preventDefault();
      setActive(next);
      virtual.scrollToIndex(next);
    } else if (event.key === 'Enter' && activeRow) {
      navigate(places.vm(activeRow));
    } else if (event.key === ' ' && activeRow) {
      event.preventDefault();
      selection.toggle(activeRow.ref);
    }
  };

  return (
    <div ref={scroller} className="hg-table">
      <Table
        variant="compact"
        gridBreakPoint=""
        isStickyHeader
        aria-label="Instances"
        aria-rowcount={rows.length + 1}
        aria-multiselectable
        tabIndex={0}
        aria-activedescendant={activeRow && rowId(activeRow.ref)}
        onKeyDown={onKeyDown}
      >
        <Thead>
          <Tr aria-rowindex={1}>
            <th className="pf-v6-c-table__th" scope="col" data-column="select">
              <input
                type="checkbox"
                aria-label="Select all shown"
                checked={allSelected}
                onChange={() => (allSelected ? selection.none() : selection.all())}
              />
            </th>
            {columns.map((name) => (
              <SortableHeading key={name} name={name} place={place} onSort={onSort} />
            ))}
            <th className="pf-v6-c-table__th" scope="col" data-column="actions">
              <span className="hg-hidden">Actions</span>
            </th>
          </Tr>
        </Thead>
        <Tbody onClick={onRowClick}>
          <Spacer height={above} />
          {items.map(({ index }) => {
            const vm = rows[index];
            return (
              vm && (
                <FleetRow
                  key={vm.ref}
                  vm={vm}
                  rowIndex={index + 2}
                  columns={columns}
                  selected={selection.refs.has(vm.ref)}
                  active={index === active}
                  refusal={refusal(rowAction(vm), vm)}
                />
              )
            );
          })}
          <Spacer height={below} />
        </Tbody>
      </Table>
    </div>
  );
}

/** Without cells: columns that a narrow window hides would come back through a cell that spans them. */
const Spacer = ({ height }: { height: number }) => (height > 0 ? <tr aria-hidden="true" style={{ height }} /> : null);

/** PatternFly's own heading measures itself after every render, which makes each step of scrolling a layout. */
function SortableHeading({ name, place, onSort }: { name: ColumnName } & Pick<FleetTableProps, 'place' | 'onSort'>) {
  const sorted = place.sort === name;
  const next = sorted ? !place.descending : COLUMN[name].numeric === true;
  return (
    <th
      scope="col"
      data-column={name}
      className={COLUMN[name].numeric ? 'pf-v6-c-table__th hg-numeric' : 'pf-v6-c-table__th'}
      aria-sort={sorted ? (place.descending ? 'descending' : 'ascending') : 'none'}
    >
      <button type="button" className="hg-sort" onClick={() => onSort({ sort: name, descending: next })}>
        {COLUMN[name].label}
        <span aria-hidden="true">{sorted ? (place.descending ? '▾' : '▴') : ''}</span>
      </button>
    </th>
  );
}

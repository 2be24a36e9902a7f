import type { VmView } from '@headgate/api-contracts';
import { memo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { places } from '../../../shared/location/places.js';
import { readableQuantity } from '../../../shared/quantity/quantity.js';
import { Icon } from '../../../shared/ui/icon.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { COLUMN, type ColumnName } from '../fleet-columns.js';
import { TagList } from '../../../shared/ui/tag-list.js';
import { RowActions } from './row-actions.js';

interface FleetRowProps {
  vm: VmView;
  /** Its place in the whole list, the heading counted as 1. */
  rowIndex: number;
  columns: readonly ColumnName[];
  selected: boolean;
  active: boolean;
  /** Why its power action can't be had; undefined when it can. */
  refusal: string | undefined;
}

/**
 * Rows come and go while scrolling: plain cells without hooks and handlers, and without PatternFly's classes, whose
 * hundreds of custom properties per cell cost the browser most of its time; drawn again only when the entry changed.
 */
export const FleetRow = memo(function FleetRow({ vm, rowIndex, columns, selected, active, refusal }: FleetRowProps) {
  return (
    <tr
      id={rowId(vm.ref)}
      aria-rowindex={rowIndex}
      aria-selected={selected}
      className={`hg-row${active ? ' hg-row--active' : ''}${vm.stale ? ' hg-row--stale' : ''}`}
    >
      <td data-column="select">
        <input type="checkbox" aria-label={`Select ${vm.name}`} checked={selected} readOnly data-ref={vm.ref} />
      </td>
      {columns.map((column) => (
        <td key={column} data-column={column} className={COLUMN[column].numeric ? 'hg-numeric' : undefined}>
          {CELL[column](vm)}
        </td>
      ))}
      <td data-column="actions">
        <RowActions vm={vm} refusal={refusal} />
      </td>
    </tr>
  );
});

export const rowId = (ref: string): string => `row-${ref}`;

const CELL: Readonly<Record<ColumnName, (vm: VmView) => ReactNode>> = {
  name: (vm) => (
    <span className="hg-name">
      <Link href={places.vm(vm)} title={vm.name}>
        {vm.name}
      </Link>
      {vm.protected && (
        <span title="Protected against deletion">
          <Icon name="lock" />
          <span className="hg-hidden">protected</span>
        </span>
      )}
      {vm.isTemplate && <span className="hg-note">template</span>}
    </span>
  ),
  status: (vm) => <StatusLabel status={vm.status} reason={vm.reason} stale={vm.stale} />,
  cpu: (vm) => vm.cpu,
  mem: (vm) => readableQuantity(vm.mem),
  disk: (vm) => readableQuantity(vm.disk),
  ip: (vm) => vm.ip,
  node: (vm) => vm.node,
  tags: (vm) => <TagList tags={vm.tags} />,
  namespace: (vm) => vm.namespace,
  context: (vm) => vm.context,
};

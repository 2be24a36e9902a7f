import type { VmView } from '@headgate/api-contracts';
import { bytesOf } from '../../shared/quantity/quantity.js';

export const COLUMNS = ['name', 'status', 'cpu', 'mem', 'disk', 'ip', 'node', 'tags', 'namespace', 'context'] as const;
export type ColumnName = (typeof COLUMNS)[number];

export interface Column {
  readonly label: string;
  /** What rows are ordered by: numbers by size, texts as people count (web-2 before web-10). */
  readonly order: (vm: VmView) => string | number;
  /** Shown unless the operator chose otherwise. */
  readonly byDefault: boolean;
  readonly numeric?: true;
}

export const COLUMN: Readonly<Record<ColumnName, Column>> = {
  name: { label: 'Name', order: (vm) => vm.name, byDefault: true },
  status: { label: 'Status', order: (vm) => vm.status, byDefault: true },
  cpu: { label: 'CPU', order: (vm) => vm.cpu, byDefault: true, numeric: true },
  mem: { label: 'Memory', order: (vm) => bytesOf(vm.mem), byDefault: true, numeric: true },
  disk: { label: 'Disk', order: (vm) => bytesOf(vm.disk), byDefault: true, numeric: true },
  ip: { label: 'IP', order: (vm) => vm.ip ?? '', byDefault: true },
  node: { label: 'Node', order: (vm) => vm.node ?? '', byDefault: true },
  tags: { label: 'Tags', order: (vm) => vm.tags.join(' '), byDefault: true },
  namespace: { label: 'Namespace', order: (vm) => vm.namespace, byDefault: true },
  context: { label: 'Context', order: (vm) => vm.context, byDefault: true },
};

export const DEFAULT_COLUMNS: readonly ColumnName[] = COLUMNS.filter((name) => COLUMN[name].byDefault);

/** Names who can be hidden: without a name a row says nothing. */
export const OPTIONAL_COLUMNS: readonly ColumnName[] = COLUMNS.filter((name) => name !== 'name');

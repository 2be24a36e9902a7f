import { t } from '@lingui/core/macro';
import type { BulkOperation } from '../../shared/actions/bulk-operations.js';
import type { MenuItem } from '../../shared/ui/dropdown.js';
import type { FolderChange } from './folder-change.js';

/** The changes of a folder. */
export const folderMenu = (
  path: string,
  reason: string | undefined,
  onChange: (change: FolderChange) => void,
): readonly MenuItem[] => [
  { label: t`New folder inside…`, icon: 'plus', reason, run: () => onChange({ type: 'create', parent: path }) },
  { label: t`Rename…`, icon: 'edit', reason, run: () => onChange({ type: 'rename', path }) },
  { label: t`Move to…`, icon: 'folder', reason, run: () => onChange({ type: 'move', path }) },
  {
    label: t`Delete…`,
    icon: 'trash',
    reason,
    isDanger: true,
    afterLine: true,
    run: () => onChange({ type: 'remove', path }),
  },
];

/** The operations on all members of a folder. Each shows its plan first. */
export const operationMenu = (
  operations: readonly BulkOperation[],
  reason: string | undefined,
  onOperation: (operation: BulkOperation) => void,
): readonly MenuItem[] =>
  operations.map((operation) => ({
    label: `${operation.label}…`,
    icon: operation.icon,
    reason,
    ...(operation.isDanger && { isDanger: true, afterLine: true }),
    run: () => onOperation(operation),
  }));

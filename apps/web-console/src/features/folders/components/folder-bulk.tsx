import { plural, t } from '@lingui/core/macro';
import { useState } from 'react';
import type { BulkOperation } from '../../../shared/actions/bulk-operations.js';
import type { Instance } from '../../../shared/instances/instance.js';
import { BulkPanel } from '../../../shared/list/components/bulk-panel.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

const memberKind = perLanguage(() => ({
  counted: (count: number) => plural(count, { one: '# member', other: '# members' }),
  plural: t`members`,
}));

interface FolderBulkProps {
  operation: BulkOperation;
  /** All members of the folder, kept up to date. */
  members: readonly Instance[];
  operations: readonly BulkOperation[];
  onClose: () => void;
}

interface Undo {
  readonly operation: BulkOperation;
  readonly refs: ReadonlySet<string>;
  readonly text: string;
}

/** An operation on all members of a folder: its plan for each member, its progress, its results, and how to undo it. */
export function FolderBulk({ operation, members, operations, onClose }: FolderBulkProps) {
  const [undo, setUndo] = useState<Undo>();
  const shown = undo?.operation ?? operation;
  return (
    <BulkPanel
      key={`${shown.name} ${undo?.text ?? ''}`}
      kind={memberKind()}
      operation={shown}
      members={undo ? members.filter(({ ref }) => undo.refs.has(ref)) : members}
      initialText={undo?.text ?? ''}
      onClose={onClose}
      onUndo={(refs, { action, text }) => {
        const inverse = operations.find(({ name }) => name === action);
        if (inverse) setUndo({ operation: inverse, refs: new Set(refs), text });
      }}
    />
  );
}

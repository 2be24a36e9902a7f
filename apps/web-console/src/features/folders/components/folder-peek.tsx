import type { Instance } from '../../../shared/instances/instance.js';
import type { BulkOperation } from '../../../shared/actions/bulk-operations.js';
import { PeekFacts } from '../../../shared/instances/peek-facts.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { Menu } from '../../../shared/ui/dropdown.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import type { FolderChange } from '../folder-change.js';
import { folderMenu, operationMenu } from '../folder-menus.js';
import { OUTSIDE, type FolderNode } from '../folder-nodes.js';
import { FolderMembers } from './folder-members.js';

interface FolderPeekProps {
  node: FolderNode;
  /** Its VMs and containers, with those of the folders in it. */
  members: readonly Instance[];
  /** The number of members that do not exist. */
  missing: number;
  operations: readonly BulkOperation[];
  /** Why folders can't be changed. */
  refusal: string | undefined;
  onChange: (change: FolderChange) => void;
  onOperation: (operation: BulkOperation) => void;
  onPut: (member: Instance) => void;
  onDrag: (member: Instance | undefined) => void;
}

/** The details of a folder: its sums, its members, and what can be done with them. */
export function FolderPeek(props: FolderPeekProps) {
  const { node, members, missing, operations, refusal, onChange, onOperation, onPut, onDrag } = props;
  const { id, sums } = node;
  const isFolder = id !== OUTSIDE;
  const facts = {
    Path: isFolder ? id : undefined,
    Running: `${sums.running.toLocaleString('en')} of ${sums.total.toLocaleString('en')}`,
    Promised: `${sums.cpu.toLocaleString('en')} CPUs, ${readableBytes(sums.memoryBytes)} of memory`,
    Missing: missing > 0 ? `${missing.toLocaleString('en')} that do not exist or were not listed yet` : undefined,
  };
  return (
    <>
      {sums.failing > 0 && (
        <p className="hg-peek-state">
          <StatusLabel
            wording={{ tone: 'danger', icon: 'diamond', words: `${sums.failing.toLocaleString('en')} failing` }}
          />
        </p>
      )}
      {isFolder && (
        <div className="hg-peek-actions">
          <Menu
            isSmall
            icon={<Icon name="power" />}
            label={`Act on ${sums.total.toLocaleString('en')}`}
            items={operationMenu(
              operations,
              refusal ?? (sums.total === 0 ? 'The folder is empty.' : undefined),
              onOperation,
            )}
          />
          <ReasonedButton
            isSmall
            variant="secondary"
            reason={refusal}
            onClick={() => onChange({ type: 'rename', path: id })}
          >
            Rename…
          </ReasonedButton>
          <Menu
            isSmall
            icon={<Icon name="more" />}
            label="More"
            items={folderMenu(id, refusal, onChange).filter(({ label }) => label !== 'Rename…')}
          />
        </div>
      )}
      <PeekFacts facts={facts} />
      <FolderMembers folder={id} members={members} refusal={refusal} onPut={onPut} onDrag={onDrag} />
    </>
  );
}

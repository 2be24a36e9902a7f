import { t } from '@lingui/core/macro';
import type { Instance } from '../../../shared/instances/instance.js';
import type { BulkOperation } from '../../../shared/actions/bulk-operations.js';
import { PeekFacts } from '../../../shared/instances/peek-facts.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { Data } from '../../../shared/ui/data.js';
import { Menu } from '../../../shared/ui/dropdown.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import type { FolderChange } from '../folder-change.js';
import { folderMenu, operationMenu } from '../folder-menus.js';
import { OUTSIDE, type FolderNode } from '../folder-nodes.js';
import { FolderMembers } from './folder-members.js';
import { readableNumber } from '../../../shared/texts/formats.js';

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
    [t`Path`]: isFolder ? <Data>{id}</Data> : undefined,
    [t`Running`]: t`${readableNumber(sums.running)} of ${readableNumber(sums.total)}`,
    [t`Promised`]: t`${readableNumber(sums.cpu)} CPUs, ${readableBytes(sums.memoryBytes)} of memory`,
    [t`Missing`]: missing > 0 ? t`${readableNumber(missing)} (gone, or not listed yet)` : undefined,
  };
  return (
    <>
      {sums.failing > 0 && (
        <p className="hg-peek-state">
          <StatusLabel
            wording={{ tone: 'danger', icon: 'diamond', words: t`${readableNumber(sums.failing)} failing` }}
          />
        </p>
      )}
      {isFolder && (
        <div className="hg-peek-actions">
          <Menu
            isSmall
            icon={<Icon name="power" />}
            label={t`Act on ${readableNumber(sums.total)}`}
            items={operationMenu(
              operations,
              refusal ?? (sums.total === 0 ? t`The folder is empty.` : undefined),
              onOperation,
            )}
          />
          <ReasonedButton
            isSmall
            variant="secondary"
            reason={refusal}
            onClick={() => onChange({ type: 'rename', path: id })}
          >
            {t`Rename…`}
          </ReasonedButton>
          <Menu
            isSmall
            icon={<Icon name="more" />}
            label={t`More`}
            items={folderMenu(id, refusal, onChange).filter(({ icon }) => icon !== 'edit')}
          />
        </div>
      )}
      <PeekFacts facts={facts} />
      <FolderMembers folder={id} members={members} refusal={refusal} onPut={onPut} onDrag={onDrag} />
    </>
  );
}

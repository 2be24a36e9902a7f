import { t } from '@lingui/core/macro';
import type { Instance } from '../../instances/instance.js';
import { Button } from '../../ui/button.js';
import { Menu } from '../../ui/dropdown.js';
import { Icon } from '../../ui/icon.js';
import { countLabel, type ListKind, type ListOperation } from '../list-kind.js';
import type { Selection } from '../use-selection.js';
import { readableNumber } from '../../texts/formats.js';

interface BulkBarProps<E extends Instance> {
  kind: ListKind<E>;
  selection: Selection<E>;
  rows: readonly E[];
  operations: readonly ListOperation<E>[];
  onOperation: (operation: ListOperation<E>) => void;
}

/** The operations for the selected rows. */
export function BulkBar<E extends Instance>({ kind, selection, rows, operations, onOperation }: BulkBarProps<E>) {
  const { members, refs } = selection;
  const hidden = members.length - rows.reduce((sum, { ref }) => sum + (refs.has(ref) ? 1 : 0), 0);
  const inMenu = operations.filter((one) => one.inMenu);

  return (
    <div className="hg-chips hg-bulk" role="toolbar" aria-label={t`Actions for the selected ${kind.plural}`}>
      <b role="status">
        {t`${readableNumber(members.length)} selected`}
        {hidden > 0 && t`, ${readableNumber(hidden)} hidden by filters`}
      </b>
      {operations
        .filter((one) => !one.inMenu)
        .map((one) => (
          <Button
            key={one.name}
            isSmall
            variant="secondary"
            className={one.isDanger ? 'hg-button--dangerous' : undefined}
            icon={<Icon name={one.icon} />}
            onClick={() => onOperation(one)}
          >
            {one.label}
          </Button>
        ))}
      {inMenu.length > 0 && (
        <Menu
          label={t`More`}
          isSmall
          items={inMenu.map((one) => ({ label: one.label, icon: one.icon, run: () => onOperation(one) }))}
        />
      )}
      {members.length < rows.length && (
        <Button isSmall variant="link" onClick={selection.all}>
          {t`Select all ${countLabel(kind, rows.length)}`}
        </Button>
      )}
      <Button isSmall variant="link" onClick={selection.none}>
        {t`Clear selection`}
      </Button>
    </div>
  );
}

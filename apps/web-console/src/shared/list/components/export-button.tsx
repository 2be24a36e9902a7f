import { t } from '@lingui/core/macro';
import type { Instance } from '../../instances/instance.js';
import { Button } from '../../ui/button.js';
import { Icon } from '../../ui/icon.js';
import { fileTimestamp, saveFile } from '../../ui/save-file.js';
import { csvOf } from '../csv.js';
import { countLabel, type ListKind } from '../list-kind.js';

interface ExportButtonProps<E extends Instance> {
  kind: ListKind<E>;
  rows: readonly E[];
  shown: readonly string[];
}

/** Exports the table as it is shown, as a file for a spreadsheet. */
export function ExportButton<E extends Instance>({ kind, rows, shown }: ExportButtonProps<E>) {
  const label = t`Export ${countLabel(kind, rows.length)} as CSV`;
  return (
    <Button
      variant="secondary"
      icon={<Icon name="download" />}
      aria-label={label}
      title={label}
      isDisabled={rows.length === 0}
      onClick={() =>
        saveFile(
          `${kind.collection}-${fileTimestamp(new Date())}.csv`,
          new Blob([csvOf(rows, kind.columns, shown)], { type: 'text/csv' }),
        )
      }
    />
  );
}

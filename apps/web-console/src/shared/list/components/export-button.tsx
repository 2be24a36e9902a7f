import { Button } from '@patternfly/react-core';
import type { Instance } from '../../instances/instance.js';
import { Icon } from '../../ui/icon.js';
import { saveFile, stamp } from '../../ui/save-file.js';
import { csvOf } from '../csv.js';
import { countOf, type ListKind } from '../list-kind.js';

interface ExportButtonProps<E extends Instance> {
  kind: ListKind<E>;
  rows: readonly E[];
  shown: readonly string[];
}

/** What the table shows, as a file for a spreadsheet. */
export function ExportButton<E extends Instance>({ kind, rows, shown }: ExportButtonProps<E>) {
  const label = `Save ${countOf(kind, rows.length)} as CSV`;
  return (
    <Button
      variant="control"
      icon={<Icon name="download" />}
      aria-label={label}
      title={label}
      isDisabled={rows.length === 0}
      onClick={() =>
        saveFile(
          `${kind.many}-${stamp(new Date())}.csv`,
          new Blob([csvOf(rows, kind.columns, shown)], { type: 'text/csv' }),
        )
      }
    />
  );
}

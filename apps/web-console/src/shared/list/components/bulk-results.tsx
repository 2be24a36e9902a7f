import { Button, ModalBody, ModalFooter } from '@patternfly/react-core';
import type { Instance } from '../../instances/instance.js';
import { CopyButton } from '../../ui/copy-button.js';
import type { BulkReport } from '../bulk-report.js';
import type { ListKind } from '../list-kind.js';
import { NameList, nameOf } from './name-list.js';

interface BulkResultsProps<E extends Instance> {
  kind: ListKind<E>;
  report: BulkReport<E>;
  onClose: () => void;
  onRetry: (failed: readonly E[]) => void;
  onSelect: (failed: readonly E[]) => void;
}

/** How it went; for those that failed why, and how to go on with them. */
export function BulkResults<E extends Instance>({ kind, report, onClose, onRetry, onSelect }: BulkResultsProps<E>) {
  const failed = report.failed.map(({ entry }) => entry);
  return (
    <>
      <ModalBody>
        <p role="status">{report.summary}</p>
        <NameList
          kind={kind}
          title="Failed"
          names={report.failed.map(({ entry, error }) => `${nameOf(entry)}: ${error}`)}
        />
      </ModalBody>
      <ModalFooter>
        <Button onClick={onClose}>Close</Button>
        {failed.length > 0 && (
          <>
            <Button variant="secondary" onClick={() => onRetry(failed)}>
              Try the {failed.length.toLocaleString('en')} again
            </Button>
            <Button variant="secondary" onClick={() => onSelect(failed)}>
              Select them
            </Button>
            <CopyButton text={report.text} label="Copy report" size="default" />
          </>
        )}
      </ModalFooter>
    </>
  );
}

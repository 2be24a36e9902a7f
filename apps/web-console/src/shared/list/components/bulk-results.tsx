import type { Instance } from '../../instances/instance.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy.js';
import { Dialog } from '../../ui/dialog.js';
import type { BulkReport } from '../bulk-report.js';
import type { ListKind } from '../list-kind.js';
import { NameList, nameOf } from './name-list.js';

interface BulkResultsProps<E extends Instance> {
  title: string;
  kind: ListKind<E>;
  report: BulkReport<E>;
  onClose: () => void;
  onRetry: (failed: readonly E[]) => void;
  onSelect: (failed: readonly E[]) => void;
}

/** The results of a bulk operation: why instances failed, and how to continue with them. */
export function BulkResults<E extends Instance>(props: BulkResultsProps<E>) {
  const { title, kind, report, onClose, onRetry, onSelect } = props;
  const failed = report.failed.map(({ entry }) => entry);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={onClose}
      footer={
        <>
          <Button type="submit" data-autofocus>
            Close
          </Button>
          {failed.length > 0 && (
            <>
              <Button variant="secondary" onClick={() => onRetry(failed)}>
                Retry {failed.length.toLocaleString('en')} failed
              </Button>
              <Button variant="secondary" onClick={() => onSelect(failed)}>
                Select failed
              </Button>
              <CopyButton text={report.text} label="Copy report" />
            </>
          )}
        </>
      }
    >
      <p role="status">{report.summary}</p>
      <NameList
        kind={kind}
        title="Failed"
        names={report.failed.map(({ entry, error }) => `${nameOf(entry)}: ${error}`)}
      />
    </Dialog>
  );
}

import type { BulkReport } from '../../bulk/bulk-report.js';
import { nameOfRef } from '../../bulk/bulk-report.js';
import { retryLabel } from '../../bulk/components/bulk-task-details.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { NameList } from './name-list.js';

interface BulkResultsProps {
  title: string;
  kind: { readonly singular: string; readonly plural: string };
  report: BulkReport;
  error: Error | null;
  onClose: () => void;
  onRetry: () => void;
  onSelect: (refs: readonly string[]) => void;
}

/** The results of a bulk operation: why instances failed, and how to continue with them. */
export function BulkResults(props: BulkResultsProps) {
  const { title, kind, report, error, onClose, onRetry, onSelect } = props;
  const { failed, unfinished, summary, text } = report;
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
          {unfinished > 0 && (
            <>
              <Button variant="secondary" onClick={onRetry}>
                {retryLabel(unfinished)}
              </Button>
              <Button variant="secondary" onClick={() => onSelect(failed.map(({ ref }) => ref))}>
                Select failed
              </Button>
              <CopyButton text={text} label="Copy report" />
            </>
          )}
        </>
      }
    >
      {error && <ErrorAlert title="The request failed" error={error} />}
      <p role="status">{summary}</p>
      <NameList
        kind={kind}
        title="Failed"
        names={failed.map(({ ref, error: reason }) => `${nameOfRef(ref)}: ${reason}`)}
      />
    </Dialog>
  );
}

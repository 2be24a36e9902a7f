import { t } from '@lingui/core/macro';
import type { BulkReport } from '../../bulk/bulk-report.js';
import { nameOfRef } from '../../bulk/bulk-report.js';
import { retryLabel } from '../../bulk/components/bulk-task-details.js';
import { PanelFrame } from '../../plans/panel-frame.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { NameList } from './name-list.js';

interface BulkResultsProps {
  title: string;
  kind: { readonly counted: (count: number) => string; readonly plural: string };
  report: BulkReport;
  /** How long it was expected to take, and has taken; empty if neither is known. */
  time: string;
  error: Error | null;
  onClose: () => void;
  onRetry: () => void;
  /** Selects the failed ones; absent where nothing can be selected. */
  onSelect?: (refs: readonly string[]) => void;
  /** Begins the opposite; undefined when there is none. */
  onUndo: (() => void) | undefined;
}

/** The results of a bulk operation: why instances failed, and how to continue with them. */
export function BulkResults(props: BulkResultsProps) {
  const { title, kind, report, time, error, onClose, onRetry, onSelect, onUndo } = props;
  const { failed, unfinished, summary, text } = report;
  return (
    <PanelFrame
      title={title}
      description={t`Done`}
      onClose={onClose}
      onSubmit={onClose}
      footer={
        <>
          <Button type="submit" data-autofocus>
            {t`Close`}
          </Button>
          {onUndo && (
            <Button variant="secondary" onClick={onUndo}>
              {t`Undo`}
            </Button>
          )}
          {unfinished > 0 && (
            <>
              <Button variant="secondary" onClick={onRetry}>
                {retryLabel(unfinished)}
              </Button>
              {onSelect && (
                <Button variant="secondary" onClick={() => onSelect(failed.map(({ ref }) => ref))}>
                  {t`Select failed`}
                </Button>
              )}
              <CopyButton text={text} label={t`Copy report`} />
            </>
          )}
        </>
      }
    >
      {error && <ErrorAlert title={t`The request failed`} error={error} />}
      <p role="status">{summary}</p>
      {time !== '' && <p className="hg-note">{t`Done: ${time}`}</p>}
      <NameList
        kind={kind}
        title={t`Failed`}
        notes="service"
        names={failed.map(({ ref, error: reason }) => `${nameOfRef(ref)}: ${reason}`)}
      />
    </PanelFrame>
  );
}

import { t } from '@lingui/core/macro';
import { PanelFrame } from '../../plans/panel-frame.js';
import { Button } from '../../ui/button.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import { Progress } from '../../ui/progress.js';
import { readableNumber } from '../../texts/formats.js';

interface BulkProgressProps {
  title: string;
  label: string;
  finished: number;
  total: number;
  /** What the task waits for. */
  waiting: string | undefined;
  error: Error | null;
  onStop: () => void;
  onClose: () => void;
}

/** The progress of a bulk operation, which can be stopped or continue in the background. */
export function BulkProgress({ title, label, finished, total, waiting, error, onStop, onClose }: BulkProgressProps) {
  return (
    <PanelFrame
      title={title}
      description={waiting ?? t`Running`}
      onClose={onClose}
      onSubmit={onClose}
      footer={
        <>
          <Button variant="secondary" onClick={onStop}>
            {t`Stop`}
          </Button>
          <Button type="submit" variant="link">
            {t`Continue in background`}
          </Button>
        </>
      }
    >
      {error && <ErrorAlert title={t`The request failed`} error={error} />}
      <Progress
        title={label}
        percent={(100 * finished) / Math.max(1, total)}
        label={t`${readableNumber(finished)} of ${readableNumber(total)}`}
      />
    </PanelFrame>
  );
}

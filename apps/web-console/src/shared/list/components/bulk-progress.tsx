import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Progress } from '../../ui/progress.js';

interface BulkProgressProps {
  title: string;
  label: string;
  finished: number;
  total: number;
  onStop: () => void;
  onClose: () => void;
}

/** The progress of a bulk operation, which can be stopped or continue in the background. */
export function BulkProgress({ title, label, finished, total, onStop, onClose }: BulkProgressProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={onClose}
      footer={
        <>
          <Button variant="secondary" onClick={onStop}>
            Stop
          </Button>
          <Button type="submit" variant="link">
            Continue in background
          </Button>
        </>
      }
    >
      <Progress
        title={label}
        percent={(100 * finished) / Math.max(1, total)}
        label={`${finished.toLocaleString('en')} of ${total.toLocaleString('en')}`}
      />
    </Dialog>
  );
}

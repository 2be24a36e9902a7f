import type { PlanView } from '@headgate/api-contracts';
import { useNotify } from '../ui/notifications.js';
import { PlanPanel } from './plan-panel.js';

/** A change that the user has requested and not confirmed yet. */
export interface ConfirmedRequest {
  readonly title: string;
  /** The text of the button that runs it. */
  readonly label: string;
  /** The message after it was carried out. */
  readonly done: string;
  readonly isDanger?: boolean;
  readonly preview: (signal: AbortSignal) => Promise<PlanView>;
  readonly run: () => Promise<unknown>;
}

interface PlannedChangePanelProps {
  change: ConfirmedRequest;
  /** The title of the message when it fails. */
  failure: string;
  onClose: () => void;
  onChanged: () => void;
}

/** Shows the plan of a change, carries it out, and confirms it. */
export function PlannedChangePanel({ change, failure, onClose, onChanged }: PlannedChangePanelProps) {
  const notify = useNotify();
  const { title, label, done, isDanger = false, preview, run } = change;
  return (
    <PlanPanel
      title={title}
      label={label}
      failure={failure}
      isDanger={isDanger}
      preview={preview}
      run={run}
      onClose={onClose}
      onDone={() => {
        onClose();
        notify({ variant: 'success', title: done });
        onChanged();
      }}
    />
  );
}

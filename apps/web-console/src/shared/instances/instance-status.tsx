import { StatusLabel } from '../ui/status-label.js';
import type { Instance } from './instance.js';
import { instanceState, stateTitle } from './instance-state.js';

interface InstanceStatusProps {
  instance: Instance;
  /** Of the task that uses it, from 0 to 1. */
  progress?: number | undefined;
  inRow?: boolean;
}

/** The state of an instance as a label. Without hooks, because rows of lists show it. */
export function InstanceStatus({ instance, progress, inRow = false }: InstanceStatusProps) {
  const wording = instanceState(instance, progress);
  return (
    <StatusLabel
      wording={inRow ? { ...wording, words: wording.brief ?? wording.words } : wording}
      title={stateTitle(instance)}
      isStale={instance.stale === true}
    />
  );
}

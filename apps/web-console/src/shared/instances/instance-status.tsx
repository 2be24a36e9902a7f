import { StatusLabel } from '../ui/status-label.js';
import type { Instance } from './instance.js';
import { instanceState, stateTitle } from './instance-state.js';

/** The state of an instance as a label. Without hooks, because rows of lists show it. */
export function InstanceStatus({ instance, progress }: { instance: Instance; progress?: number | undefined }) {
  return (
    <StatusLabel
      wording={instanceState(instance, progress)}
      title={stateTitle(instance)}
      isStale={instance.stale === true}
    />
  );
}

import type { ContainerPhase, IconName, VmStatus } from './status-tone.js';
import { toneOf } from './status-tone.js';
import { Icon } from './icon.js';

/** A status with its icon, color, and word. The tooltip has the reason. */
export function StatusLabel({ status, reason, stale = false }: StatusLabelProps) {
  const { tone, icon } = toneOf(status);
  const title = [reason, stale ? 'Last known status: the context is unreachable.' : undefined]
    .filter(Boolean)
    .join(' ');
  return (
    <span className={`hg-status hg-status--${tone}${stale ? ' hg-status--stale' : ''}`} title={title || undefined}>
      <Icon name={icon satisfies IconName} />
      <span>{words(status)}</span>
    </span>
  );
}

interface StatusLabelProps {
  status: VmStatus | ContainerPhase;
  reason?: string | undefined;
  stale?: boolean | undefined;
}

/** `WaitingForVolumeBinding` is shown as separate words; `CrashLoopBackOff` stays as the cluster's tools show it. */
const words = (status: string): string =>
  status.startsWith('WaitingFor') ? status.replace(/(?<=[a-z])(?=[A-Z])/g, ' ') : status;

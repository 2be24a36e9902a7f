import { Icon } from './icon.js';
import type { StatusWording } from './status-tone.js';

/** A status with its icon, color, and words. The tooltip has the reason. */
export function StatusLabel({ wording: { tone, icon, words }, title, isStale = false }: StatusLabelProps) {
  return (
    <span className={`hg-status hg-status--${tone}${isStale ? ' hg-status--stale' : ''}`} title={title}>
      <Icon name={icon} />
      <span>{words}</span>
    </span>
  );
}

interface StatusLabelProps {
  wording: StatusWording;
  title?: string | undefined;
  /** Whether it is only the last known status. */
  isStale?: boolean;
}

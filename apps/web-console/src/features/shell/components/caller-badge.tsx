import { t } from '@lingui/core/macro';
import { useWhoami } from '../../../shared/queries/use-whoami.js';

/** The user and their role, as the service sees them. */
export function CallerBadge() {
  const { data: whoami } = useWhoami();
  if (!whoami) return null;
  const name = whoami.name || whoami.login || t`anonymous`;
  const role = !whoami.enforced ? t`everyone is admin` : whoami.admin ? t`admin` : t`view only`;
  return (
    <span className="hg-caller" title={whoami.login || t`Not signed in: the service received no identity headers.`}>
      <span className="hg-caller-letter" aria-hidden="true">
        {name.slice(0, 1).toLowerCase()}
      </span>
      <span className="hg-caller-name">
        {name} <span className="hg-note">{role}</span>
      </span>
    </span>
  );
}

import { useWhoami } from '../../../shared/queries/use-whoami.js';
import { Icon } from '../../../shared/ui/icon.js';

/** Who the service takes this browser for, and whether he may change things. */
export function CallerBadge() {
  const { data: whoami } = useWhoami();
  if (!whoami) return null;
  const name = whoami.name || whoami.login || 'anonymous';
  const role = !whoami.enforced ? 'everyone is admin' : whoami.admin ? 'admin' : 'view only';
  return (
    <span className="hg-caller" title={whoami.login || 'Nobody signed in: no identity headers arrived.'}>
      <Icon name={role === 'view only' ? 'eye' : 'user'} />
      <span>
        {name} <span className="hg-note">{role}</span>
      </span>
    </span>
  );
}

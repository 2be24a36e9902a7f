import { t } from '@lingui/core/macro';
import type { ConsoleGuest, LinkState } from '../console-link.js';

/** The state of the connection. */
export function LinkBadge({ link, guest }: { link: LinkState; guest: ConsoleGuest }) {
  const { tone, text } = {
    waiting: { tone: 'neutral', text: guest.state },
    connecting: { tone: 'progress', text: t`Connecting` },
    connected: { tone: 'success', text: t`Connected` },
    broken: link.ended ? { tone: 'neutral', text: t`Ended` } : { tone: 'danger', text: t`Disconnected` },
  }[link.phase];
  return (
    <span role="status" className={`hg-status hg-status--${tone}`}>
      <span className="hg-dot" aria-hidden="true" />
      {text}
    </span>
  );
}

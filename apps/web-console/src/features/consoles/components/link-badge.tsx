import type { ConsoleGuest, LinkState } from '../console-link.js';

/** The state of the connection. */
export function LinkBadge({ link, guest }: { link: LinkState; guest: ConsoleGuest }) {
  const { tone, text } = {
    waiting: { tone: 'neutral', text: guest.state },
    connecting: { tone: 'progress', text: 'Connecting' },
    connected: { tone: 'success', text: 'Connected' },
    broken: link.ended ? { tone: 'neutral', text: 'Ended' } : { tone: 'danger', text: 'Disconnected' },
  }[link.phase];
  return (
    <span role="status" className={`hg-status hg-status--${tone}`}>
      <span className="hg-dot" aria-hidden="true" />
      {text}
    </span>
  );
}

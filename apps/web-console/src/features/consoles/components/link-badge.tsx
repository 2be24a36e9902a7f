import type { LinkState } from '../console-link.js';
import type { ConsoleGuest } from './console-frame.js';

/** How the connection is, in a word. */
export function LinkBadge({ link, guest }: { link: LinkState; guest: ConsoleGuest }) {
  const { tone, words } = {
    waiting: { tone: 'off', words: guest.status },
    connecting: { tone: 'busy', words: 'Connecting' },
    connected: { tone: 'good', words: 'Connected' },
    broken: link.ended ? { tone: 'off', words: 'Ended' } : { tone: 'bad', words: 'Disconnected' },
  }[link.phase];
  return (
    <span role="status" className={`hg-status hg-status--${tone}`}>
      <span className="hg-dot" aria-hidden="true" />
      {words}
    </span>
  );
}

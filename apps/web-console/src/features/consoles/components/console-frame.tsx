import { Button, Label } from '@patternfly/react-core';
import type { ReactNode, Ref } from 'react';
import { Icon } from '../../../shared/ui/icon.js';
import { retryDelay, type LinkState } from '../console-link.js';

export interface ConsoleGuest {
  readonly name: string;
  readonly status: string;
  /** Whether there is something to connect to. */
  readonly running: boolean;
}

interface ConsoleFrameProps {
  label: string;
  guest: ConsoleGuest;
  link: LinkState;
  viewOnly: boolean;
  /** Shown while the guest does not run: how to start it. */
  start: ReactNode;
  tools: ReactNode;
  onReconnect: () => void;
  frameRef?: Ref<HTMLElement>;
  children: ReactNode;
}

/** What both consoles have around them: tools, the connection's state, and words when there is nothing to see. */
export function ConsoleFrame({
  label,
  guest,
  link,
  viewOnly,
  start,
  tools,
  onReconnect,
  frameRef,
  children,
}: ConsoleFrameProps) {
  return (
    <section className="hg-console" aria-label={label} ref={frameRef}>
      <div className="hg-console-bar" role="toolbar" aria-label={`${label}: tools`}>
        <LinkBadge link={link} guest={guest} />
        {viewOnly && (
          <Label isCompact color="blue" icon={<Icon name="eye" />}>
            View only
          </Label>
        )}
        <span className="hg-spring" />
        {tools}
      </div>
      <div className="hg-console-body">
        {children}
        {link.phase === 'waiting' && (
          <div className="hg-console-note">
            <p>
              {guest.name} is {guest.status}. There is nothing to see until it runs.
            </p>
            {start}
          </div>
        )}
        {link.phase === 'broken' && (
          <div className="hg-console-note hg-console-note--low" role="status">
            <p>
              {link.reason} {retryDelay(link) !== undefined && 'It is tried again.'}
            </p>
            <Button size="sm" onClick={onReconnect}>
              Reconnect
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

function LinkBadge({ link, guest }: { link: LinkState; guest: ConsoleGuest }) {
  const { tone, words } = {
    waiting: { tone: 'off', words: guest.status },
    connecting: { tone: 'busy', words: 'Connecting' },
    connected: { tone: 'good', words: 'Connected' },
    broken: { tone: 'bad', words: 'Disconnected' },
  }[link.phase];
  return (
    <span role="status" className={`hg-status hg-status--${tone}`}>
      <span className="hg-dot" aria-hidden="true" />
      {words}
    </span>
  );
}

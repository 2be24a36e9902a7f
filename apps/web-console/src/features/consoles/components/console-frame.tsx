import { Button, Label } from '@patternfly/react-core';
import { useRef, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { openAlone, useIsAlone } from '../../../shared/location/alone.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { retryDelay, type LinkState } from '../console-link.js';
import { useLeaveKey } from '../use-leave-key.js';
import { ConsoleTool } from './console-tool.js';
import { LinkBadge } from './link-badge.js';

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
  /** How it went to load what draws it. */
  loading: { readonly error: Error | null; readonly retry: () => void };
  /** How coming back is called. */
  again: string;
  onReconnect: () => void;
  children: ReactNode;
}

/** What both consoles have around them: tools, the connection's state, and words when there is nothing to see. */
export function ConsoleFrame(props: ConsoleFrameProps) {
  const { label, guest, link, viewOnly, start, tools, loading, again, onReconnect, children } = props;
  const frame = useRef<HTMLElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  useLeaveKey(frame, bar);
  const [path] = useLocation();
  const isAlone = useIsAlone();
  return (
    <section className="hg-console" aria-label={label} ref={frame}>
      <div className="hg-console-bar" role="toolbar" aria-label={`${label}: tools`} ref={bar}>
        <LinkBadge link={link} guest={guest} />
        {viewOnly && (
          <Label isCompact color="blue" icon={<Icon name="eye" />}>
            View only
          </Label>
        )}
        <span className="hg-spring" />
        {tools}
        <ConsoleTool
          icon="expand"
          isDisabled={!document.fullscreenEnabled}
          onClick={() =>
            void (document.fullscreenElement ? document.exitFullscreen() : frame.current?.requestFullscreen())
          }
        >
          Full screen
        </ConsoleTool>
        {!isAlone && (
          <ConsoleTool icon="popout" brief onClick={() => openAlone(path)}>
            In a window of its own
          </ConsoleTool>
        )}
        <span className="hg-note hg-leave">Ctrl-Alt-Shift leaves the console</span>
      </div>
      <div className="hg-console-body">
        {children}
        {loading.error && (
          <div className="hg-console-note">
            <ErrorAlert
              title="The console can't be loaded"
              error="The service did not send it. Is it still running, and the same as when this page was opened?"
              onRetry={loading.retry}
            />
          </div>
        )}
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
              {again}
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

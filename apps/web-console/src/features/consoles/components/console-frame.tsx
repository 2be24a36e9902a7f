import { t } from '@lingui/core/macro';
import { useRef, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { openPopup, useIsPopup } from '../../../shared/location/popup.js';
import { Button } from '../../../shared/ui/button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { retryDelay, type ConsoleGuest, type LinkState } from '../console-link.js';
import { useLeaveKey } from '../use-leave-key.js';
import { ConsoleTool } from './console-tool.js';
import { LinkBadge } from './link-badge.js';

interface ConsoleFrameProps {
  label: string;
  guest: ConsoleGuest;
  link: LinkState;
  viewOnly: boolean;
  /** A button that starts the guest, shown while it is not running. */
  start: ReactNode;
  tools: ReactNode;
  /** The state of loading the console's libraries. */
  loading: { readonly error: Error | null; readonly retry: () => void };
  reconnectLabel: string;
  onReconnect: () => void;
  children: ReactNode;
}

/** The frame of both consoles: the tools, the state of the connection, and messages. */
export function ConsoleFrame(props: ConsoleFrameProps) {
  const { label, guest, link, viewOnly, start, tools, loading, reconnectLabel, onReconnect, children } = props;
  const frame = useRef<HTMLElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  useLeaveKey(frame, bar);
  const [path] = useLocation();
  const isPopup = useIsPopup();
  return (
    <section className="hg-console" aria-label={label} ref={frame}>
      <div className="hg-console-bar" role="toolbar" aria-label={t`${label}: tools`} ref={bar}>
        <LinkBadge link={link} guest={guest} />
        {viewOnly && (
          <span className="hg-pill">
            <Icon name="eye" /> <span>{t`View only`}</span>
          </span>
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
          {t`Full screen`}
        </ConsoleTool>
        {!isPopup && (
          <ConsoleTool icon="popout" isIconOnly onClick={() => openPopup(path)}>
            {t`Open in new window`}
          </ConsoleTool>
        )}
        <span className="hg-note hg-leave">{t`Press Ctrl+Alt+Shift to leave the console`}</span>
      </div>
      <div className="hg-console-body">
        {children}
        {loading.error && (
          <div className="hg-console-note">
            <ErrorAlert
              title={t`Couldn't load the console`}
              error={t`Check that the service is running. If it was updated, reload the page.`}
              onRetry={loading.retry}
            />
          </div>
        )}
        {link.phase === 'waiting' && (
          <div className="hg-console-note">
            <p>{t`${guest.name} is not running (${guest.state}). The console connects when it starts.`}</p>
            {start}
          </div>
        )}
        {link.phase === 'broken' && (
          <div className="hg-console-note hg-console-note--low" role="status">
            <p>
              {link.reason} {retryDelay(link) !== undefined && t`Retrying automatically.`}
            </p>
            <Button isSmall onClick={onReconnect}>
              {reconnectLabel}
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

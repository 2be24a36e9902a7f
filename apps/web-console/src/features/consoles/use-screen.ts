import { t } from '@lingui/core/macro';
import type RFB from '@novnc/novnc';
import { useEffect, useRef, useState, type ActionDispatch, type RefObject } from 'react';
import type { LinkEvent } from './console-link.js';
import { openSocket, whileCurrent } from './open-socket.js';

interface ScreenOptions {
  /** Undefined until loaded. */
  libraries: Pick<typeof import('./screen-libraries.js'), 'RFB'> | undefined;
  url: string;
  /** Each number is a new connection; 0 means none. */
  attempt: number;
  viewOnly: boolean;
  /** Whether the screen is scaled to the available space. */
  fit: boolean;
  /** Receives the text that was copied in the guest. */
  onClipboard: (text: string) => void;
}

/** Shows a guest's screen in an element, with a new connection for each attempt. */
export function useScreen(
  { libraries, url, attempt, viewOnly, fit, onClipboard }: ScreenOptions,
  dispatch: ActionDispatch<[LinkEvent]>,
): { container: RefObject<HTMLDivElement | null>; display: RFB | undefined } {
  const container = useRef<HTMLDivElement>(null);
  const [display, setDisplay] = useState<RFB>();
  useEffect(() => {
    const target = container.current;
    if (attempt === 0 || !target || !libraries) return undefined;
    const report = whileCurrent(dispatch);
    // Only the connection can end: the screen exists as long as the guest runs.
    const socket = openSocket(url, (event) => report.send({ ...event, ...('ended' in event ? { ended: false } : {}) }));
    const rfb = new libraries.RFB(target, socket, { shared: true });
    rfb.background = 'transparent';
    rfb.viewOnly = viewOnly;
    rfb.addEventListener('connect', () => {
      report.send({ type: 'open' });
      rfb.focus();
    });
    rfb.addEventListener('disconnect', () => report.send({ type: 'closed' }));
    rfb.addEventListener('clipboard', (event) => onClipboard((event as CustomEvent<{ text: string }>).detail.text));
    rfb.addEventListener('securityfailure', (event) =>
      report.send({
        type: 'closed',
        reason: (event as CustomEvent<{ reason?: string }>).detail.reason ?? t`The guest refused the connection.`,
      }),
    );
    setDisplay(rfb);
    return () => {
      report.end();
      setDisplay(undefined);
      rfb.disconnect();
    };
  }, [libraries, url, attempt, viewOnly, onClipboard, dispatch]);

  useEffect(() => {
    if (display) display.scaleViewport = fit;
  }, [display, fit]);

  return { container, display };
}

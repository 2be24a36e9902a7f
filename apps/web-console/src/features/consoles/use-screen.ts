import type RFB from '@novnc/novnc';
import { useEffect, useRef, useState, type ActionDispatch, type RefObject } from 'react';
import type { LinkEvent } from './console-link.js';
import { openSocket, whileCurrent } from './open-socket.js';

interface ScreenOptions {
  /** Undefined until they are loaded. */
  libraries: Pick<typeof import('./screen-libraries.js'), 'RFB'> | undefined;
  url: string;
  /** 0: nobody is called. */
  generation: number;
  viewOnly: boolean;
  /** Whether the screen is drawn as large as there is room. */
  fit: boolean;
  /** What was copied in the guest. */
  onClipboard: (text: string) => void;
}

/** Shows a guest's screen in a place, anew for each generation. */
export function useScreen(
  { libraries, url, generation, viewOnly, fit, onClipboard }: ScreenOptions,
  dispatch: ActionDispatch<[LinkEvent]>,
): { place: RefObject<HTMLDivElement | null>; display: RFB | undefined } {
  const place = useRef<HTMLDivElement>(null);
  const [display, setDisplay] = useState<RFB>();
  useEffect(() => {
    const target = place.current;
    if (generation === 0 || !target || !libraries) return undefined;
    const report = whileCurrent(dispatch);
    // What ends here is the connection: the guest's screen is there as long as the guest is.
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
        reason: (event as CustomEvent<{ reason?: string }>).detail.reason ?? 'The screen was refused.',
      }),
    );
    setDisplay(rfb);
    return () => {
      report.end();
      setDisplay(undefined);
      rfb.disconnect();
    };
  }, [libraries, url, generation, viewOnly, onClipboard, dispatch]);

  useEffect(() => {
    if (display) display.scaleViewport = fit;
  }, [display, fit]);

  return { place, display };
}

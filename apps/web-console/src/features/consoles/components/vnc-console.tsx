import RFB from '@novnc/novnc';
import { Button } from '@patternfly/react-core';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Icon } from '../../../shared/ui/icon.js';
import { useRemembered } from '../../../shared/storage/remembered.js';
import { openSocket, whileCurrent } from '../open-socket.js';
import { typeText } from '../type-text.js';
import { useConsoleLink } from '../use-console-link.js';
import { ConsoleFrame, type ConsoleGuest } from './console-frame.js';
import { TypeDialog } from './type-dialog.js';

interface VncConsoleProps {
  url: string;
  guest: ConsoleGuest;
  viewOnly: boolean;
  start: ReactNode;
}

/** The guest's screen, keyboard and pointer. */
export function VncConsole({ url, guest, viewOnly, start }: VncConsoleProps) {
  const frame = useRef<HTMLElement>(null);
  const screen = useRef<HTMLDivElement>(null);
  const rfb = useRef<RFB>(null);
  const [link, dispatch] = useConsoleLink(guest.running);
  const [fit, setFit] = useRemembered('console-fit', true);
  const [typing, setTyping] = useState(false);
  const { generation } = link;
  const called = guest.running && generation > 0;

  useEffect(() => {
    const target = screen.current;
    if (!called || !target) return undefined;
    const report = whileCurrent(dispatch);
    const socket = openSocket(url, report.send);
    const display = new RFB(target, socket, { shared: true });
    display.background = 'transparent';
    display.viewOnly = viewOnly;
    display.addEventListener('connect', () => {
      report.send({ type: 'open' });
      display.focus();
    });
    display.addEventListener('disconnect', () => report.send({ type: 'closed' }));
    display.addEventListener('securityfailure', (event) =>
      report.send({
        type: 'closed',
        reason: (event as CustomEvent<{ reason?: string }>).detail.reason ?? 'The screen was refused.',
      }),
    );
    rfb.current = display;
    return () => {
      report.end();
      rfb.current = null;
      display.disconnect();
    };
  }, [url, called, generation, viewOnly, dispatch]);

  useEffect(() => {
    if (rfb.current) rfb.current.scaleViewport = fit;
  }, [fit, link.phase]);

  const type = async (text: string, signal: AbortSignal): Promise<void> => {
    if (rfb.current) await typeText(rfb.current, text, signal);
  };
  const connected = link.phase === 'connected';
  const tool = { variant: 'plain', size: 'sm' } as const;
  return (
    <ConsoleFrame
      label={`Graphical console of ${guest.name}`}
      guest={guest}
      link={link}
      viewOnly={viewOnly}
      start={start}
      frameRef={frame}
      onReconnect={() => dispatch({ type: 'reconnect', asked: true })}
      tools={
        <>
          {!viewOnly && (
            <>
              <Button
                {...tool}
                icon={<Icon name="keyboard" />}
                isDisabled={!connected}
                onClick={() => rfb.current?.sendCtrlAltDel()}
              >
                Ctrl-Alt-Del
              </Button>
              <Button {...tool} icon={<Icon name="paste" />} isDisabled={!connected} onClick={() => setTyping(true)}>
                Type text
              </Button>
            </>
          )}
          <Button {...tool} icon={<Icon name="fit" />} aria-pressed={fit} onClick={() => setFit(!fit)}>
            {fit ? 'Fitted' : 'Actual size'}
          </Button>
          <Button
            {...tool}
            icon={<Icon name="expand" />}
            isDisabled={!document.fullscreenEnabled}
            onClick={() => void frame.current?.requestFullscreen()}
          >
            Full screen
          </Button>
        </>
      }
    >
      <div ref={screen} className="hg-screen" data-fit={fit} hidden={link.phase === 'waiting'} />
      {typing && <TypeDialog onType={type} onClose={() => setTyping(false)} />}
    </ConsoleFrame>
  );
}

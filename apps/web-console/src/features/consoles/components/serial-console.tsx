import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { Button } from '@patternfly/react-core';
import { useEffect, useRef, type ReactNode } from 'react';
import { Icon } from '../../../shared/ui/icon.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { openSocket, whileCurrent } from '../open-socket.js';
import { useConsoleLink } from '../use-console-link.js';
import { ConsoleFrame, type ConsoleGuest } from './console-frame.js';

interface SerialConsoleProps {
  url: string;
  guest: ConsoleGuest;
  viewOnly: boolean;
  start: ReactNode;
  /** A shell is told how large its window is; a serial line has no such thing. */
  shell?: boolean;
}

const LOOK = {
  fontFamily: "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  fontSize: 13,
  scrollback: 5_000,
  theme: { background: '#0f1214', foreground: '#e4e6e8', cursor: '#7db9f5', selectionBackground: '#35506e' },
} as const;

/** A terminal on the guest's serial line, or on a shell. What it said stays readable after it ended. */
export function SerialConsole({ url, guest, viewOnly, start, shell = false }: SerialConsoleProps) {
  const place = useRef<HTMLDivElement>(null);
  const terminal = useRef<Terminal>(null);
  const [link, dispatch] = useConsoleLink(guest.running);
  const notify = useNotify();
  const { generation } = link;
  const called = guest.running && generation > 0;
  const label = shell ? `Shell in ${guest.name}` : `Serial console of ${guest.name}`;

  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const made = new Terminal({ ...LOOK, cursorBlink: !still });
    const fit = new FitAddon();
    made.loadAddon(fit);
    made.open(element);
    fit.fit();
    const observer = new ResizeObserver(() => fit.fit());
    observer.observe(element);
    terminal.current = made;
    return () => {
      observer.disconnect();
      terminal.current = null;
      made.dispose();
    };
  }, []);

  useEffect(() => {
    const screen = terminal.current;
    if (!called || !screen) return undefined;
    // The service sends what scrolled by before; what is here already would be there twice.
    screen.reset();
    const report = whileCurrent(dispatch);
    const socket = openSocket(url, report.send);
    const encoder = new TextEncoder();
    const send = (data: string | Uint8Array<ArrayBuffer>): void => {
      if (socket.readyState === WebSocket.OPEN) socket.send(data);
    };
    const tellSize = ({ cols, rows }: { cols: number; rows: number }): void => {
      if (shell) send(JSON.stringify({ resize: { columns: cols, rows } }));
    };
    socket.addEventListener('open', () => {
      report.send({ type: 'open' });
      tellSize(screen);
      screen.focus();
    });
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) =>
      screen.write(typeof data === 'string' ? data : new Uint8Array(data)),
    );
    screen.options.disableStdin = viewOnly;
    const listeners = [
      screen.onData((data) => !viewOnly && send(encoder.encode(data))),
      screen.onBinary((data) => !viewOnly && send(Uint8Array.from(data, (character) => character.charCodeAt(0)))),
      screen.onResize(tellSize),
    ];
    return () => {
      report.end();
      for (const listener of listeners) listener.dispose();
      socket.close();
    };
  }, [url, called, generation, viewOnly, shell, dispatch]);

  const explain = (body: string) => (): void =>
    notify({ variant: 'warning', title: 'The browser does not allow this here', body });
  const copy = (): void =>
    void navigator.clipboard
      .writeText(terminal.current?.getSelection() ?? '')
      .catch(explain('Select the text and press Ctrl-Shift-C.'));
  const paste = (): void =>
    void navigator.clipboard
      .readText()
      .then((text) => terminal.current?.paste(text))
      .catch(explain('Click into the terminal and press Ctrl-Shift-V.'));
  const tool = { variant: 'plain', size: 'sm' } as const;
  return (
    <ConsoleFrame
      label={label}
      guest={guest}
      link={link}
      viewOnly={viewOnly}
      start={start}
      onReconnect={() => dispatch({ type: 'reconnect', asked: true })}
      tools={
        <>
          <Button {...tool} icon={<Icon name="copy" />} onClick={copy}>
            Copy selection
          </Button>
          {!viewOnly && (
            <Button {...tool} icon={<Icon name="paste" />} isDisabled={link.phase !== 'connected'} onClick={paste}>
              Paste
            </Button>
          )}
        </>
      }
    >
      <div ref={place} className="hg-terminal" data-waiting={link.phase === 'waiting'} />
    </ConsoleFrame>
  );
}

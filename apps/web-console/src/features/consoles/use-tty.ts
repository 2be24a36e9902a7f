import type { Terminal } from '@xterm/xterm';
import { useEffect, type ActionDispatch } from 'react';
import type { LinkEvent } from './console-link.js';
import { openSocket, whileCurrent } from './open-socket.js';

interface Tty {
  url: string;
  /** 0: nobody is called. */
  generation: number;
  viewOnly: boolean;
  /** A shell is told how large its window is, and ends; a serial line has no such thing. */
  shell: boolean;
}

/** Connects a terminal to a console's socket, anew for each generation. */
export function useTty(
  terminal: Terminal | undefined,
  { url, generation, viewOnly, shell }: Tty,
  dispatch: ActionDispatch<[LinkEvent]>,
): void {
  useEffect(() => {
    if (generation === 0 || !terminal) return undefined;
    // The service sends what scrolled by before; what is here already would be there twice.
    terminal.reset();
    const report = whileCurrent((event) =>
      dispatch(event.type === 'closed' ? { ...event, ended: shell && event.ended === true } : event),
    );
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
      tellSize(terminal);
      terminal.focus();
    });
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) =>
      terminal.write(typeof data === 'string' ? data : new Uint8Array(data)),
    );
    terminal.options.disableStdin = viewOnly;
    const listeners = [
      terminal.onData((data) => !viewOnly && send(encoder.encode(data))),
      terminal.onBinary((data) => !viewOnly && send(Uint8Array.from(data, (character) => character.charCodeAt(0)))),
      terminal.onResize(tellSize),
    ];
    return () => {
      report.end();
      for (const listener of listeners) listener.dispose();
      socket.close();
    };
  }, [terminal, url, generation, viewOnly, shell, dispatch]);
}

import type { Terminal } from '@xterm/xterm';
import { useEffect, type ActionDispatch } from 'react';
import type { LinkEvent } from './console-link.js';
import { openSocket, whileCurrent } from './open-socket.js';

interface Tty {
  url: string;
  /** Each number is a new connection; 0 means none. */
  attempt: number;
  viewOnly: boolean;
  /** A shell gets the size of its window and can end; a serial console does neither. */
  shell: boolean;
}

/** Connects a terminal to a console's socket, with a new connection for each attempt. */
export function useTty(
  terminal: Terminal | undefined,
  { url, attempt, viewOnly, shell }: Tty,
  dispatch: ActionDispatch<[LinkEvent]>,
): void {
  useEffect(() => {
    if (attempt === 0 || !terminal) return undefined;
    // The service replays the recent output, which would otherwise be shown twice.
    terminal.reset();
    const report = whileCurrent((event) =>
      dispatch(event.type === 'closed' ? { ...event, ended: shell && event.ended === true } : event),
    );
    const socket = openSocket(url, report.send);
    const encoder = new TextEncoder();
    const send = (data: string | Uint8Array<ArrayBuffer>): void => {
      if (socket.readyState === WebSocket.OPEN) socket.send(data);
    };
    const input = (data: Uint8Array<ArrayBuffer>): void => {
      if (!viewOnly && !isMuted) send(data);
    };
    const sendSize = ({ cols, rows }: { cols: number; rows: number }): void => {
      if (shell) send(JSON.stringify({ resize: { columns: cols, rows } }));
    };
    socket.addEventListener('open', () => {
      report.send({ type: 'open' });
      sendSize(terminal);
      terminal.focus();
    });
    // The first frame of a serial console is its recent output. The terminal would answer the queries in it (such as
    // ESC[6n for the cursor's position) a second time, as if the user had typed the answers. Without any recent output,
    // the first frame is live; a guest that gets no answer continues after a timeout.
    let isReplay = !shell;
    let isMuted = false;
    socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
      const output = typeof data === 'string' ? data : new Uint8Array(data);
      if (!isReplay) return terminal.write(output);
      isReplay = false;
      isMuted = true;
      terminal.write(output, () => {
        isMuted = false;
      });
    });
    terminal.options.disableStdin = viewOnly;
    const listeners = [
      terminal.onData((data) => input(encoder.encode(data))),
      terminal.onBinary((data) => input(Uint8Array.from(data, (character) => character.charCodeAt(0)))),
      terminal.onResize(sendSize),
    ];
    return () => {
      report.end();
      for (const listener of listeners) listener.dispose();
      socket.close();
    };
  }, [terminal, url, attempt, viewOnly, shell, dispatch]);
}

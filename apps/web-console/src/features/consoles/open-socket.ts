import type { LinkEvent } from './console-link.js';

/** A connection that lived so long was good, and its break is a new one. */
const LASTED_MS = 10_000;
/** The guest or the shell came to its end. */
const ENDED = 1000;

/** A console's socket: binary both ways. Tells when it closed and, if the service said it, why. */
export function openSocket(url: string, report: (event: LinkEvent) => void): WebSocket {
  const socket = new WebSocket(url);
  socket.binaryType = 'arraybuffer';
  let openedAt: number | undefined;
  socket.addEventListener('open', () => {
    openedAt = Date.now();
  });
  socket.addEventListener('close', ({ code, reason }) =>
    report({
      type: 'closed',
      reason: reason || (openedAt === undefined ? 'The console was not opened.' : 'The connection was closed.'),
      lasted: openedAt !== undefined && Date.now() - openedAt >= LASTED_MS,
      ended: code === ENDED,
    }),
  );
  return socket;
}

/** Passes events on until the connection is given up: what an old one says afterwards is nobody's business. */
export function whileCurrent(report: (event: LinkEvent) => void): {
  send: (event: LinkEvent) => void;
  end: () => void;
} {
  let current = true;
  return {
    send: (event) => {
      if (current) report(event);
    },
    end: () => {
      current = false;
    },
  };
}

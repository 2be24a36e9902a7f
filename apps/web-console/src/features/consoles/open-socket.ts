import type { LinkEvent } from './console-link.js';

/** A console's socket: binary both ways. Tells when it closed and, if the service said it, why. */
export function openSocket(url: string, report: (event: LinkEvent) => void): WebSocket {
  const socket = new WebSocket(url);
  socket.binaryType = 'arraybuffer';
  let opened = false;
  socket.addEventListener('open', () => {
    opened = true;
  });
  socket.addEventListener('close', ({ reason }) =>
    report({
      type: 'closed',
      reason: reason || (opened ? 'The connection was closed.' : 'The console was not opened.'),
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

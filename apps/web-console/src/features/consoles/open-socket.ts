import { t } from '@lingui/core/macro';
import type { LinkEvent } from './console-link.js';

/** A connection that lasted this long counts as stable. */
const STABLE_MS = 10_000;
/** The WebSocket close code when the guest or the shell ended. */
const ENDED_CODE = 1000;

/** Opens a console's binary socket. Reports when it closes and, if known, why. */
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
      reason: reason || (openedAt === undefined ? t`The console could not be opened.` : t`The connection was closed.`),
      wasStable: openedAt !== undefined && Date.now() - openedAt >= STABLE_MS,
      ended: code === ENDED_CODE,
    }),
  );
  return socket;
}

/** Forwards events until `end` is called, so that an old connection can't affect the next one. */
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

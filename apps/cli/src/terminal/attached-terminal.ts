import type { WebSocket } from 'ws';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import { printable } from './printable.js';
import type { Environment } from './environment.js';

/** Ctrl-], as in telnet and virsh. */
const ESCAPE = 0x1d;
const NORMAL_CLOSURE = 1000;

/**
 * Ends the modes that a guest may have left the terminal in: the alternate screen, reports of the mouse and of pasted
 * text, a hidden cursor, colors, another character set.
 */
const RESET_TERMINAL = '\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?25h\x1b[!p\x1b[0m\x0f';

/**
 * Connects the user's terminal with a console, until Ctrl-] or the end of the console. The terminal is restored in
 * every case, also when the program is ended by a signal or by an error.
 * @throws ClientError when the service ends the console
 */
export async function attachTerminal(
  socket: WebSocket,
  { stdin, stdout, stderr }: Environment,
  { resizes }: { readonly resizes: boolean },
): Promise<void> {
  const restore = () => {
    if (!stdin.isTTY) return;
    stdin.setRawMode?.(false);
    stdout.write(RESET_TERMINAL);
  };
  const sendSize = () => {
    const { columns = 80, rows = 24 } = stdout;
    if (resizes && socket.readyState === socket.OPEN)
      socket.send(JSON.stringify({ resize: { columns, rows } }), { binary: false });
  };
  const type = (bytes: Buffer) => {
    const end = bytes.indexOf(ESCAPE);
    if (socket.readyState === socket.OPEN) socket.send(end < 0 ? bytes : bytes.subarray(0, end), { binary: true });
    if (end >= 0) socket.close(NORMAL_CLOSURE);
  };
  process.once('exit', restore);
  stdin.setRawMode?.(true);
  try {
    await new Promise<void>((resolve, reject) => {
      let isLeft = false;
      socket.on('message', (data: Buffer) => {
        if (stdout.write(data)) return;
        // A terminal that is slower than the guest holds the console back instead of filling the memory.
        socket.pause();
        stdout.once('drain', () => socket.resume());
      });
      socket.on('close', (code, reason) =>
        isLeft || code === NORMAL_CLOSURE ? resolve() : reject(closed(code, reason)),
      );
      socket.on('error', () => undefined);
      stdin.on('data', (bytes: Buffer) => {
        isLeft ||= bytes.includes(ESCAPE);
        type(bytes);
      });
      stdin.once('end', () => {
        isLeft = true;
        socket.close(NORMAL_CLOSURE);
      });
      stdout.on('resize', sendSize);
      sendSize();
      stdin.resume();
      socket.resume();
    });
  } finally {
    stdout.off('resize', sendSize);
    stdin.removeAllListeners('data');
    stdin.pause();
    process.off('exit', restore);
    restore();
    socket.terminate();
    stderr.write('\nThe console is closed.\n');
  }
}

const closed = (code: number, reason: Buffer): ClientError =>
  new ClientError(
    'CONSOLE_CLOSED',
    `The service has closed the console: ${printable(String(reason)) || `code ${code}`}`,
    code === 1006 ? EXIT_CODES.unreachable : EXIT_CODES.failed,
  );

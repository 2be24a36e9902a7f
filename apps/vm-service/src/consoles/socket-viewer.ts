import type { ShellViewer } from '@headgate/consoles';
import type { TerminalSize } from '@headgate/domain-contracts';
import type { RawData, WebSocket } from 'ws';
import { BinarySocket } from '../platform/binary-socket.js';

/**
 * The socket of a browser as a viewer of the console broker. Binary frames carry console bytes; a text frame may carry
 * a new window size. Input that arrives before the console is open waits for it.
 */
export class SocketViewer extends BinarySocket implements ShellViewer {
  constructor(
    socket: WebSocket,
    readonly viewOnly: boolean,
  ) {
    super(socket);
  }

  onInput(listener: (data: Buffer) => void): void {
    this.socket.on('message', (data: RawData, binary: boolean) => {
      if (binary) listener(data as Buffer);
      else if (sizeIn(data) === undefined) listener(data as Buffer);
    });
    this.resume();
  }

  onResize(listener: (size: TerminalSize) => void): void {
    this.socket.on('message', (data: RawData, binary: boolean) => {
      const size = binary ? undefined : sizeIn(data);
      if (size) listener(size);
    });
  }
}

const MAX_CELLS_PER_SIDE = 1000;

/** The size in `{"resize":{"columns":80,"rows":24}}`, or undefined for plain input. */
function sizeIn(data: RawData): TerminalSize | undefined {
  const text = String(data);
  if (!text.startsWith('{"resize"')) return undefined;
  try {
    const { columns, rows } = (JSON.parse(text) as { resize: TerminalSize }).resize;
    const valid = [columns, rows].every((side) => Number.isInteger(side) && side > 0 && side <= MAX_CELLS_PER_SIDE);
    return valid ? { columns, rows } : undefined;
  } catch {
    return undefined;
  }
}

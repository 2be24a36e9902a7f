import type { ShellViewer } from '@headgate/consoles';
import type { TerminalSize } from '@headgate/domain-contracts';
import type { RawData, WebSocket } from 'ws';

/**
 * The socket of a browser as a viewer of the console broker. Binary frames carry console bytes; a text frame may carry
 * a new window size. Input that arrives before the console is open waits for it.
 */
export class SocketViewer implements ShellViewer {
  constructor(
    private readonly socket: WebSocket,
    readonly viewOnly: boolean,
  ) {
    socket.pause();
  }

  get buffered(): number {
    return this.socket.bufferedAmount;
  }

  send(data: Buffer, left: () => void): void {
    if (this.socket.readyState !== this.socket.OPEN) return left();
    this.socket.send(data, { binary: true }, left);
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

  onClose(listener: () => void): void {
    if (this.socket.readyState >= this.socket.CLOSING) listener();
    else this.socket.once('close', listener);
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(code: number, reason: string): void {
    // The close frame of the other side has to be read.
    this.resume();
    this.socket.close(code, reason);
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

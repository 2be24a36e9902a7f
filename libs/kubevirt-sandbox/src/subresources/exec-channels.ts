import type { WebSocket } from 'ws';

export const EXEC_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

const Channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;
const NORMAL_CLOSURE = 1000;

export interface TerminalSize {
  width: number;
  height: number;
}

/** Receives the input of an exec session. */
export interface ExecInput {
  stdin(data: Buffer): void;
  resize(size: TerminalSize): void;
  /** The client has closed its input (v5 only). */
  stdinClosed(): void;
}

/** The input of a session that takes none. */
export const NO_INPUT: ExecInput = { stdin: () => undefined, resize: () => undefined, stdinClosed: () => undefined };

/** One exec session: frames that begin with a channel number, and a Status at the end. */
export class ExecChannels {
  private ended = false;

  constructor(
    private readonly socket: WebSocket,
    input: ExecInput,
  ) {
    socket.on('message', (raw: Buffer) => receive(Buffer.isBuffer(raw) ? raw : Buffer.from(raw), input));
    socket.on('error', () => socket.terminate());
    // Every channel is opened with an empty frame, which announces it to the client.
    for (const channel of [Channel.stdout, Channel.stderr, Channel.error]) this.send(channel, '');
  }

  stdout(data: string | Buffer): void {
    this.send(Channel.stdout, data);
  }

  stderr(data: string): void {
    this.send(Channel.stderr, data);
  }

  /** Ends the session with the program's exit code. */
  exit(code: number): void {
    const success = { metadata: {}, status: 'Success' };
    const failure = {
      metadata: {},
      status: 'Failure',
      message: `command terminated with non-zero exit code: exit status ${code}`,
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
    };
    this.end(code === 0 ? success : failure);
  }

  /** Ends the session with an error of the server, which accepts a session before it connects to the kubelet. */
  fail(message: string): void {
    this.end({
      metadata: {},
      status: 'Failure',
      message: `Internal error occurred: ${message}`,
      reason: 'InternalError',
      details: { causes: [{ message }] },
      code: 500,
    });
  }

  private end(status: object): void {
    if (this.ended) return;
    this.send(Channel.error, JSON.stringify(status));
    this.ended = true;
    this.socket.close(NORMAL_CLOSURE);
  }

  private send(channel: number, data: string | Buffer): void {
    if (!this.ended) this.socket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(data as string)]));
  }
}

function receive(frame: Buffer, input: ExecInput): void {
  const data = frame.subarray(1);
  switch (frame[0]) {
    case Channel.stdin:
      return input.stdin(data);
    case Channel.close:
      return data[0] === Channel.stdin ? input.stdinClosed() : undefined;
    case Channel.resize: {
      const size = parseSize(data);
      if (size) input.resize(size);
    }
  }
}

function parseSize(data: Buffer): TerminalSize | undefined {
  try {
    const { Width: width, Height: height } = JSON.parse(data.toString()) as { Width: number; Height: number };
    return width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

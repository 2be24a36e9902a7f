import type { Duplex } from 'node:stream';

/** Named methods, each with one parameter. */
export type Methods<Names extends PropertyKey> = Record<Names, (parameter: never) => unknown>;
type ParameterOf<Method> = Method extends (parameter: infer Parameter) => unknown ? Parameter : never;
type ResultOf<Method> = Method extends (...parameters: never[]) => infer Result ? Awaited<Result> : never;

/** The other process could not carry out a call. */
export class RemoteError extends Error {}

/** The other process has ended, or its end of the channel is closed. */
export class ChannelClosed extends Error {
  constructor() {
    super('The other process has ended.');
  }
}

interface Call {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** `[id, method, parameter]`; the ID is 0 without a response. Responses: `[id, 0, result]` and `[id, 1, message]`. */
type Line = [id: number, kind: string | 0 | 1, value: unknown];

/**
 * Calls between two processes over a stream, as lines of JSON. Either side calls the other one. Messages arrive in the
 * order in which they were sent; those of one tick are written together.
 * @typeParam Remote the methods of the other side
 */
export class Channel<Remote extends Methods<keyof Remote>> {
  private readonly calls = new Map<number, Call>();
  private lastId = 0;
  private rest = '';
  private isCorked = false;
  private isClosed = false;

  /**
   * @param methods of this side; an error of one rejects the call of the other side with its message
   * @param onClose the other process has ended; everything that it sent was received before
   */
  constructor(
    private readonly stream: Duplex,
    private readonly methods: Readonly<Record<string, (parameter: never) => unknown>>,
    private readonly onClose: () => void,
  ) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => this.receive(text));
    stream.on('error', () => undefined);
    stream.once('close', () => this.fail());
    stream.once('end', () => stream.destroy());
  }

  /**
   * @throws RemoteError with the message of the other side's error
   * @throws ChannelClosed
   */
  call<Name extends keyof Remote & string>(
    method: Name,
    parameter: ParameterOf<Remote[Name]>,
  ): Promise<ResultOf<Remote[Name]>> {
    if (this.isClosed) return Promise.reject(new ChannelClosed());
    const id = ++this.lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.calls.set(id, { resolve, reject });
    this.write([id, method, parameter]);
    return promise as Promise<ResultOf<Remote[Name]>>;
  }

  /**
   * Calls without waiting for a response.
   * @param onWritten the message has left this process, and arrives even if this process is killed
   */
  notify<Name extends keyof Remote & string>(
    method: Name,
    parameter: ParameterOf<Remote[Name]>,
    onWritten?: () => void,
  ): void {
    this.write([0, method, parameter], onWritten);
  }

  close(): void {
    this.stream.destroy();
  }

  private write(line: Line, onWritten?: () => void): void {
    if (this.isClosed) return;
    if (!this.isCorked) {
      this.isCorked = true;
      this.stream.cork();
      process.nextTick(() => {
        this.isCorked = false;
        this.stream.uncork();
      });
    }
    this.stream.write(`${JSON.stringify(line)}\n`, (error) => {
      if (!error) onWritten?.();
    });
  }

  private receive(text: string): void {
    const lines = text.split('\n');
    lines[0] = this.rest + lines[0]!;
    this.rest = lines.pop()!;
    for (const line of lines) this.handle(JSON.parse(line) as Line);
  }

  private handle([id, kind, value]: Line): void {
    if (typeof kind === 'string') return void this.respond(id, kind, value);
    const call = this.calls.get(id);
    this.calls.delete(id);
    if (kind === 0) call?.resolve(value);
    else call?.reject(new RemoteError(String(value)));
  }

  private respond(id: number, name: string, parameter: unknown): void {
    const finish = (kind: 0 | 1, value: unknown) => {
      if (id !== 0) this.write([id, kind, value]);
    };
    const fail = (error: unknown) => finish(1, error instanceof Error ? error.message : String(error));
    try {
      const result = this.methods[name]!(parameter as never);
      if (result instanceof Promise) void result.then((value) => finish(0, value), fail);
      else finish(0, result);
    } catch (error) {
      fail(error);
    }
  }

  private fail(): void {
    this.isClosed = true;
    for (const { reject } of this.calls.values()) reject(new ChannelClosed());
    this.calls.clear();
    this.onClose();
  }
}

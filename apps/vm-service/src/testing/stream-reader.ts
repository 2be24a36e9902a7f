import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

/** An event of a stream. */
export interface ReadEvent {
  readonly name: string;
  readonly id?: string;
  readonly data: unknown;
}

/** How long a test waits for an event before it fails. */
const EVENT_TIMEOUT_MS = 20_000;

/** A client of an event stream over a real connection. */
export class StreamReader {
  readonly events: ReadEvent[] = [];
  hasEnded = false;
  private buffered = '';
  private wake = Promise.withResolvers<void>();

  private constructor(private readonly response: IncomingMessage) {
    response.on('data', (data: Buffer) => this.receive(String(data)));
    response.once('close', () => {
      this.hasEnded = true;
      this.wake.resolve();
    });
    response.on('error', () => undefined);
  }

  /** @param url with the path. A refusal is a stream that has ended, with a status. */
  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<StreamReader> {
    const request = get(url, { headers: { accept: 'text/event-stream', ...headers } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return new StreamReader(response);
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  /** The first event that matches, also of those that have arrived. @throws Error when none does in time */
  async next<T = Record<string, unknown>>(
    name: string,
    matches: (data: T) => boolean = () => true,
  ): Promise<ReadEvent & { readonly data: T }> {
    const deadline = setTimeout(() => this.wake.resolve(), EVENT_TIMEOUT_MS);
    const until = Date.now() + EVENT_TIMEOUT_MS;
    try {
      for (;;) {
        const found = this.events.find((event) => event.name === name && matches(event.data as T));
        if (found) return found as ReadEvent & { readonly data: T };
        if (this.hasEnded || Date.now() >= until)
          throw new Error(`no ${name} among ${JSON.stringify(this.events).slice(0, 3000)}`);
        this.wake = Promise.withResolvers();
        await this.wake.promise;
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Resolves when the server has ended the stream. */
  async ended(): Promise<void> {
    if (!this.hasEnded) await once(this.response, 'close');
  }

  /** Stops reading, so that the buffers of the connection fill up. */
  pause(): void {
    this.response.pause();
  }

  resume(): void {
    this.response.resume();
  }

  names(): string[] {
    return this.events.map(({ name }) => name);
  }

  close(): void {
    this.response.destroy();
  }

  private receive(text: string): void {
    const parts = `${this.buffered}${text}`.split('\n\n');
    this.buffered = parts.pop() ?? '';
    for (const part of parts) {
      const fields = Object.fromEntries(
        part.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      const { event, id, data } = fields;
      if (event === undefined || data === undefined) continue;
      this.events.push({ name: event, ...(id === undefined ? {} : { id }), data: JSON.parse(data) });
    }
    this.wake.resolve();
  }
}

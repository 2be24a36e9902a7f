import { WAIT_TIMEOUT_MS } from './until.js';

/** One server-sent event. */
export interface StreamEvent {
  readonly name: string;
  readonly data: unknown;
}

/** Reads the event stream of the service until the event that a test waits for. */
export class EventStream {
  private rest = '';

  private constructor(
    private readonly reader: ReadableStreamDefaultReader<string>,
    private readonly abort: AbortController,
  ) {}

  static async open(url: string): Promise<EventStream> {
    const abort = new AbortController();
    const headers = { accept: 'text/event-stream' };
    const { body } = await fetch(`${url}/api/vms`, { headers, signal: abort.signal });
    return new EventStream(body!.pipeThrough(new TextDecoderStream()).getReader(), abort);
  }

  /** Reads until the first matching event and drops those before it. @throws Error that names the expected event */
  async until(what: string, right: (event: StreamEvent) => boolean): Promise<StreamEvent> {
    const timer = setTimeout(
      () => this.abort.abort(new Error(`waited ${WAIT_TIMEOUT_MS} ms until ${what}`)),
      WAIT_TIMEOUT_MS,
    );
    try {
      for (;;) {
        const event = await this.next();
        if (right(event)) return event;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.abort.abort();
  }

  private async next(): Promise<StreamEvent> {
    for (;;) {
      const end = this.rest.indexOf('\n\n');
      if (end >= 0) {
        const block = this.rest.slice(0, end);
        this.rest = this.rest.slice(end + 2);
        const [, name, data] = /^event: (.*)\n(?:id: .*\n)?data: (.*)$/.exec(block) ?? [];
        if (name !== undefined && data !== undefined) return { name, data: JSON.parse(data) };
        continue;
      }
      const { done, value } = await this.reader.read();
      if (done) throw new Error('the event stream ended');
      this.rest += value;
    }
  }
}

/** The Web Locks of several tabs: one holder per name, the others wait in line. */
export class FakeLocks {
  private readonly queues = new Map<string, (() => Promise<unknown>)[]>();

  request(name: string, { signal }: { signal: AbortSignal }, hold: () => Promise<unknown>): Promise<unknown> {
    const queue = this.queues.get(name) ?? [];
    this.queues.set(name, queue);
    return new Promise((resolve, reject) => {
      const run = async (): Promise<unknown> => {
        resolve(await hold());
        queue.shift();
        return queue[0]?.();
      };
      signal.addEventListener('abort', () => {
        const at = queue.indexOf(run);
        if (at > 0) queue.splice(at, 1);
        reject(signal.reason as Error);
      });
      queue.push(run);
      if (queue.length === 1) void run();
    });
  }
}

/** A BroadcastChannel between the tabs of a test. */
export class FakeChannel extends EventTarget {
  private static readonly open = new Set<FakeChannel>();

  constructor(readonly name: string) {
    super();
    FakeChannel.open.add(this);
  }

  postMessage(data: unknown): void {
    const copy: unknown = JSON.parse(JSON.stringify(data));
    for (const other of FakeChannel.open)
      if (other !== this && other.name === this.name) other.dispatchEvent(new MessageEvent('message', { data: copy }));
  }

  close(): void {
    FakeChannel.open.delete(this);
  }
}

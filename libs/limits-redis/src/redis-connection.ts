import { createHash } from 'node:crypto';
import { createClient } from '@redis/client';

export interface ServerOptions {
  /** `redis://[[user]:password@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string;
  /** How long an answer may take: 100 ms when left out. A refusal must not wait for a slow server. */
  readonly timeoutMs?: number;
  /** With `rediss://`: who may have signed the server's certificate (PEM); those that the system trusts when left out. */
  readonly ca?: string;
  /** Told why there is no connection, at each try. */
  readonly onError?: (error: unknown) => void;
}

/** The server did not answer in time. */
export class ServerTooSlow extends Error {
  constructor(ms: number) {
    super(`The server of the shared windows did not answer within ${ms} ms.`);
    this.name = 'ServerTooSlow';
  }
}

export interface RedisConnection {
  /** Resolves when there is a connection; never rejects. */
  readonly ready: Promise<void>;
  run(command: string[]): Promise<unknown>;
  script(text: string, keys: string[], args: string[]): Promise<unknown>;
  close(): void;
}

const SLOWEST_RECONNECT_MS = 2000;
/** A connection that is silent for this long is given up; one that is in order answers a ping in between. */
const SILENT_MS = 5000;
const PING_MS = 2000;

/** Commands fail at once while the server is away; they are never queued for later, when they would count the wrong time. */
export function openConnection(options: ServerOptions): RedisConnection {
  const { timeoutMs = 100 } = options;
  const { promise: ready, resolve: isReady } = Promise.withResolvers<void>();
  let closed = false;
  let client = open();

  function open() {
    const client = clientFor(options);
    client.once('ready', isReady);
    // It rejects when the connection is given up for good, of which whoever gave it up knows.
    client.connect().catch(() => undefined);
    return client;
  }

  /** No answer may mean that nobody is there any more, which a connection can take a quarter of an hour to notice. */
  function reopen(slow: typeof client): void {
    if (closed || client !== slow) return;
    giveUp(slow);
    client = open();
  }

  async function run(command: string[]): Promise<unknown> {
    const used = client;
    try {
      return await within(timeoutMs, used.sendCommand(command));
    } catch (error) {
      if (error instanceof ServerTooSlow) reopen(used);
      throw error;
    }
  }

  return {
    ready,
    run,
    script: async (text, keys, args) => {
      const rest = [String(keys.length), ...keys, ...args];
      try {
        return await run(['EVALSHA', createHash('sha1').update(text).digest('hex'), ...rest]);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return run(['EVAL', text, ...rest]);
      }
    },
    close: () => {
      closed = true;
      giveUp(client);
    },
  };
}

function clientFor({ url, ca, onError = () => undefined }: ServerOptions) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: PING_MS,
    socket: {
      ...(ca !== undefined && { tls: true, ca }),
      connectTimeout: 1000,
      socketTimeout: SILENT_MS,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 10), SLOWEST_RECONNECT_MS),
    },
  });
  // Whoever runs a command is told; without a listener the same error would end the process.
  client.on('error', onError);
  return client;
}

function giveUp(client: ReturnType<typeof clientFor>): void {
  // A connection that is just being made ends by itself later; nobody should have to wait for that.
  client.unref();
  client.destroy();
}

async function within<Answer>(ms: number, answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ServerTooSlow(ms)), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

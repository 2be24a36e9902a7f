import { createHash } from 'node:crypto';
import { createClient } from '@redis/client';

export interface ServerOptions {
  /** `redis://[[user]:password@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string;
  /** How long an answer may take: 100 ms when left out. A refusal must not wait for a slow server. */
  readonly timeoutMs?: number;
}

/** The server did not answer in time. */
export class ServerTooSlow extends Error {
  constructor(ms: number) {
    super(`The server of the shared windows did not answer within ${ms} ms.`);
    this.name = 'ServerTooSlow';
  }
}

export interface RedisConnection {
  run(command: string[]): Promise<unknown>;
  script(text: string, keys: string[], args: string[]): Promise<unknown>;
  close(): Promise<void>;
}

const SLOWEST_RECONNECT_MS = 2000;

/** Commands fail at once while the server is away; they are never queued for later, when they would count the wrong time. */
export function openConnection({ url, timeoutMs = 100 }: ServerOptions): RedisConnection {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 1000,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 10), SLOWEST_RECONNECT_MS),
    },
  });
  // Whoever runs a command is told; without a listener the same error would end the process.
  client.on('error', () => undefined);
  const connected = client.connect().catch(() => undefined);

  const run = (command: string[]): Promise<unknown> => within(timeoutMs, client.sendCommand(command));

  return {
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
    close: async () => {
      client.destroy();
      await connected;
    },
  };
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

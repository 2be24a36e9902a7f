import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { RateWindows } from '@headgate/limits-core';
import { RedisWindows, type RedisWindowsOptions } from './redis-windows.js';
import { ServerAway, ServerTooSlow } from './server-errors.js';

const opened: { server: Server; sockets: Socket[]; windows?: RedisWindows }[] = [];

afterEach(async () => {
  for (const { server, sockets, windows } of opened.splice(0)) {
    await windows?.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  }
});

/** Answers RESP commands with what it is told (undefined: not at all): enough to see what goes over the wire. */
async function listen(
  answer: (command: string[]) => string | undefined,
  options: Partial<RedisWindowsOptions> = {},
): Promise<{ windows: RedisWindows; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    let buffer = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      buffer += chunk.toString();
      for (let command = take(); command; command = take()) socket.write(answer(command) ?? '');
    });
    function take(): string[] | undefined {
      const count = /^\*(\d+)\r\n/.exec(buffer);
      if (!count) return undefined;
      let rest = buffer.slice(count[0].length);
      const words: string[] = [];
      for (let left = Number(count[1]); left > 0; left--) {
        const length = /^\$(\d+)\r\n/.exec(rest);
        if (!length || rest.length < length[0].length + Number(length[1]) + 2) return undefined;
        words.push(rest.slice(length[0].length, length[0].length + Number(length[1])));
        rest = rest.slice(length[0].length + Number(length[1]) + 2);
      }
      buffer = rest;
      return words;
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const windows = RedisWindows.open({ url, timeoutMs: 10_000, ...options });
  opened.push({ server, sockets, windows });
  return { windows, sockets };
}

const ring = new RateWindows().define('ring', { limit: 10, windowMs: 60_000 });

/** The connection is being made: until it is there, calls reject at once. */
async function connected<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call().then(
      (value) => ({ value }),
      (error: unknown) => {
        if (!(error instanceof ServerAway)) throw error;
      },
    );
    if (answer) return answer.value;
    await new Promise((next) => setImmediate(next));
  }
}

describe('RedisWindows on the wire', () => {
  test('asks by digest first, sends the script when the server does not know it, and reads the refusal', async () => {
    const seen: string[][] = [];
    const { windows } = await listen(
      (command) => {
        seen.push(command);
        if (command[0] === 'EVALSHA') return '-NOSCRIPT No matching script.\r\n';
        if (command[0] === 'EVAL') return '*2\r\n:1\r\n:1234\r\n';
        return '+OK\r\n';
      },
      { prefix: 'test' },
    );
    const refusal = await connected(() => windows.count(ring, '@a:b'));
    expect(refusal).toEqual({ granted: false, rate: 'ring', limit: 10, retryAfterMs: 1234 });
    const [byDigest, whole] = seen.filter(([name]) => name!.startsWith('EVAL'));
    expect(byDigest!.slice(2, 5)).toEqual(['1', '{test}:ring:IX6nWyredh8FaxgtY-P1vY', 'count']);
    expect(byDigest!.slice(6)).toEqual(['10', '60000']);
    expect(whole![0]).toBe('EVAL');
  });

  test('gives a connection up whose server does not answer, and makes a new one', async () => {
    const { windows, sockets } = await listen(([name]) => (name === 'PING' ? undefined : '+OK\r\n'), { timeoutMs: 20 });
    await expect(connected(() => windows.ping())).rejects.toThrow(ServerTooSlow);
    await expect(windows.ping()).rejects.toThrow('away: The server of the shared windows did not answer within 20 ms.');
    await expect(connected(() => windows.ping())).rejects.toThrow(ServerTooSlow);
    expect(sockets).toHaveLength(2);
  });

  test('gives a connection up on which the greeting is never answered', async () => {
    const { windows, sockets } = await listen(() => undefined);
    while (sockets.length < 2) await new Promise((next) => setImmediate(next));
    await expect(windows.ping()).rejects.toThrow('did not answer within 1000 ms');
  });

  test('closes twice, and asks nobody afterwards', async () => {
    const { windows } = await listen(() => '+OK\r\n');
    await connected(() => windows.ping());
    await windows.close();
    await windows.close();
    await expect(windows.ping()).rejects.toThrow('away: it was closed here.');
  });

  test('does not take its own process for a slow server: an answer that is there counts, however late it is looked at', async () => {
    let busyMs = 0;
    const { windows } = await listen(
      ([name]) => {
        const end = performance.now() + busyMs;
        while (performance.now() < end);
        return name === 'EVALSHA' ? '*2\r\n:1\r\n:1234\r\n' : '+OK\r\n';
      },
      { timeoutMs: 50 },
    );
    await connected(() => windows.count(ring, '@a:b'));
    busyMs = 150;
    expect(await windows.count(ring, '@a:b')).toMatchObject({ retryAfterMs: 1234 });
  });
});

describe('RedisWindows.open', () => {
  test.each(['', 'localhost:6379', 'http://user:hunter2@localhost', 'redis://'])('refuses the URL %p', (url) => {
    expect(() => RedisWindows.open({ url })).toThrow('must be redis://HOST[:PORT] or rediss://HOST[:PORT].');
  });

  test('refuses a prefix that would end its own hash tag', () => {
    expect(() => RedisWindows.open({ url: 'redis://127.0.0.1:1', prefix: 'a}b' })).toThrow('without braces');
  });
});

import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { FallbackRateLimiter, MemoryRateLimiter } from '@headgate/limits-core';
import { RedisRateLimiter, type RedisRateLimiterOptions } from './redis-rate-limiter.js';
import { ServerUnavailable, ServerTimeout } from './server-errors.js';

const opened: { server: Server; sockets: Socket[]; limiter?: RedisRateLimiter }[] = [];

afterEach(async () => {
  for (const { server, sockets, limiter } of opened.splice(0)) {
    await limiter?.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  }
});

/** A fake server that answers RESP commands as given; undefined means no answer. */
async function listen(
  answer: (command: string[]) => string | undefined,
  options: Partial<RedisRateLimiterOptions> = {},
): Promise<{ limiter: RedisRateLimiter; sockets: Socket[] }> {
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
  const limiter = RedisRateLimiter.open({ url, timeoutMs: 10_000, ...options });
  opened.push({ server, sockets, limiter });
  return { limiter, sockets };
}

const ring = new MemoryRateLimiter().define('ring', { limit: 10, windowMs: 60_000 });

/** Retries a call until the connection is established; until then, calls reject immediately. */
async function whenConnected<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call().then(
      (value) => ({ value }),
      (error: unknown) => {
        if (!(error instanceof ServerUnavailable)) throw error;
      },
    );
    if (answer) return answer.value;
    await new Promise((next) => setImmediate(next));
  }
}

describe('RedisRateLimiter on the wire', () => {
  test('runs a script by its digest, sends the text if the server does not have it, and returns the refusal', async () => {
    const commands: string[][] = [];
    const { limiter } = await listen(
      (command) => {
        commands.push(command);
        if (command[0] === 'EVALSHA') return '-NOSCRIPT No matching script.\r\n';
        if (command[0] === 'EVAL') return '*2\r\n:1\r\n:1234\r\n';
        return '+OK\r\n';
      },
      { prefix: 'test' },
    );
    const refusal = await whenConnected(() => limiter.count(ring, '@a:b'));
    expect(refusal).toEqual({ granted: false, rate: 'ring', limit: 10, retryAfterMs: 1234 });
    const [byDigest, whole] = commands.filter(([name]) => name!.startsWith('EVAL'));
    expect(byDigest!.slice(2, 5)).toEqual(['1', '{test}:ring:IX6nWyredh8FaxgtY-P1vY', 'count']);
    expect(byDigest!.slice(6)).toEqual(['10', '60000', '1', 'fixed-window']);
    expect(whole![0]).toBe('EVAL');
  });

  test('replaces a connection whose server does not answer', async () => {
    const { limiter, sockets } = await listen(([name]) => (name === 'PING' ? undefined : '+OK\r\n'), { timeoutMs: 20 });
    await expect(whenConnected(() => limiter.ping())).rejects.toThrow(ServerTimeout);
    await expect(limiter.ping()).rejects.toThrow('unavailable: The Redis server did not answer within 20 ms.');
    await expect(whenConnected(() => limiter.ping())).rejects.toThrow(ServerTimeout);
    expect(sockets).toHaveLength(2);
  });

  test('replaces a connection whose handshake is not answered', async () => {
    const { limiter, sockets } = await listen(() => undefined);
    while (sockets.length < 2) await new Promise((next) => setImmediate(next));
    await expect(limiter.ping()).rejects.toThrow('did not answer within 1000 ms');
  });

  test('can be closed twice, and rejects commands afterwards', async () => {
    const { limiter } = await listen(() => '+OK\r\n');
    await whenConnected(() => limiter.ping());
    await limiter.close();
    await limiter.close();
    await expect(limiter.ping()).rejects.toThrow('unavailable: the connection was closed.');
  });

  test('sends the commands of one turn of the event loop together', async () => {
    let commands = 0;
    const { limiter, sockets } = await listen(([name]) => {
      if (name === 'EVALSHA') commands++;
      return name === 'EVALSHA' ? '*2\r\n:0\r\n:1\r\n' : '+OK\r\n';
    });
    await whenConnected(() => limiter.count(ring, '@a:b'));
    let chunks = 0;
    sockets[0]!.on('data', () => chunks++);
    await Promise.all(Array.from({ length: 100 }, (_, user) => limiter.count(ring, `@${user}:b`)));
    expect(commands).toBe(101);
    expect(chunks).toBeLessThanOrEqual(2);
  });

  test('does not count the time during which its own process was busy', async () => {
    let delayMs = 0;
    const { limiter, sockets } = await listen(
      ([name]) => {
        if (name !== 'EVALSHA' || delayMs === 0) return name === 'EVALSHA' ? '*2\r\n:1\r\n:7\r\n' : '+OK\r\n';
        setTimeout(() => sockets[0]!.write('*2\r\n:1\r\n:1234\r\n'), delayMs);
        return undefined;
      },
      { timeoutMs: 50 },
    );
    await whenConnected(() => limiter.count(ring, '@a:b'));
    delayMs = 20;
    const answer = limiter.count(ring, '@a:b');
    const end = performance.now() + 200;
    while (performance.now() < end);
    expect(await answer).toMatchObject({ retryAfterMs: 1234 });
  });

  test('grants exactly the limit to a thousand parallel events while its own process is busy', async () => {
    let counted = 0;
    const { limiter } = await listen(
      ([name]) => (name === 'EVALSHA' ? (counted++ < 6 ? '*2\r\n:0\r\n:1\r\n' : '*2\r\n:1\r\n:9\r\n') : '+OK\r\n'),
      { timeoutMs: 50 },
    );
    await whenConnected(() => limiter.count(ring, 'first'));
    const failures: unknown[] = [];
    const shared = new FallbackRateLimiter(limiter, new MemoryRateLimiter(), {
      onChange: (error) => failures.push(error),
    });
    const rate = shared.define('login', { limit: 5, windowMs: 60_000 });
    const answers = Array.from({ length: 1_000 }, () => shared.count(rate, 'alice'));
    // Each turn of the event loop takes longer than half the timeout.
    let isDone = false;
    const keepBusy = () => {
      const end = performance.now() + 30;
      while (performance.now() < end);
      if (!isDone) setImmediate(keepBusy);
    };
    keepBusy();
    const refusals = await Promise.all(answers);
    isDone = true;
    expect(refusals.filter((refusal) => refusal === undefined)).toHaveLength(5);
    expect(failures).toEqual([]);
  });

  test('accepts an answer that arrived in time, even if a busy process reads it late', async () => {
    let busyMs = 0;
    const { limiter } = await listen(
      ([name]) => {
        const end = performance.now() + busyMs;
        while (performance.now() < end);
        return name === 'EVALSHA' ? '*2\r\n:1\r\n:1234\r\n' : '+OK\r\n';
      },
      { timeoutMs: 50 },
    );
    await whenConnected(() => limiter.count(ring, '@a:b'));
    busyMs = 150;
    expect(await limiter.count(ring, '@a:b')).toMatchObject({ retryAfterMs: 1234 });
  });
});

describe('RedisRateLimiter.open', () => {
  test.each(['', 'localhost:6379', 'http://user:hunter2@localhost', 'redis://'])('refuses the URL %p', (url) => {
    expect(() => RedisRateLimiter.open({ url })).toThrow('must be redis://HOST[:PORT] or rediss://HOST[:PORT].');
  });

  test.each([{}, { url: 'redis://a', cluster: { nodes: ['redis://b'] } }])('refuses %j: not one server', (servers) => {
    expect(() => RedisRateLimiter.open(servers)).toThrow('exactly one of url, cluster and sentinel');
  });

  test.each([{ nodes: [] }, { nodes: ['a:1'] }])('refuses the nodes %j', (cluster) => {
    expect(() => RedisRateLimiter.open({ cluster })).toThrow(TypeError);
  });

  test('keys with a secret are HMACs, which nodes with the same secret share', async () => {
    const keysOf = async (options: Partial<RedisRateLimiterOptions>) => {
      const keys: string[] = [];
      const { limiter } = await listen((command) => {
        if (command[0] !== 'EVALSHA') return '+OK\r\n';
        keys.push(command[3]!);
        return '*2\r\n:0\r\n:1\r\n';
      }, options);
      await whenConnected(() => limiter.count(ring, '203.0.113.7'));
      return keys[0];
    };
    const [plain, one, same, other] = [{}, { secret: 'a' }, { secret: 'a' }, { secret: 'b' }].map(keysOf);
    expect(await one).toBe(await same);
    expect(new Set([await plain, await one, await other]).size).toBe(3);
    expect(() => RedisRateLimiter.open({ url: 'redis://127.0.0.1:1', secret: '' })).toThrow('must not be empty');
  });

  test('refuses a prefix that would end its hash tag', () => {
    expect(() => RedisRateLimiter.open({ url: 'redis://127.0.0.1:1', prefix: 'a}b' })).toThrow('without braces');
  });
});

import { ManualClock } from './clock.js';
import { FallbackRateLimiter } from './fallback-rate-limiter.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import type { CountedKey, RateKey, Rate, RateRefusal, Reservation, WindowState } from './rate.js';
import { SharedRateLimiter } from './rate-limiter.port.js';

/** A server that several nodes share: one limiter, whose rates correspond by name to those of each node. */
class Server {
  isUp = true;
  calls = 0;
  /** How long an answer takes, or why there is none. */
  delay: () => Promise<void> = async () => undefined;
  readonly limiter: MemoryRateLimiter;

  constructor(clock: ManualClock) {
    this.limiter = new MemoryRateLimiter({ clock });
  }

  rate(rate: Rate): Rate {
    this.calls++;
    if (!this.isUp) throw new Error('connection refused');
    return this.limiter.define(rate.name, rate);
  }
}

class ServerClient extends SharedRateLimiter {
  constructor(readonly server: Server) {
    super();
  }

  override async count(rate: Rate, key: string): Promise<RateRefusal | undefined> {
    const refusal = this.server.limiter.count(this.server.rate(rate), key);
    await this.server.delay();
    return refusal;
  }

  override async countAll(keys: readonly CountedKey[]): Promise<RateRefusal | undefined> {
    const refusal = this.server.limiter.countAll(keys.map((key) => ({ ...key, rate: this.server.rate(key.rate) })));
    await this.server.delay();
    return refusal;
  }

  override async reserve(keys: readonly RateKey[]): Promise<Reservation | RateRefusal> {
    const answer = this.server.limiter.reserve(keys.map(({ rate, key }) => ({ rate: this.server.rate(rate), key })));
    await this.server.delay();
    if (!answer.granted) return answer;
    const settle = async (settlement: 'commit' | 'reset' | 'release') => {
      if (!this.server.isUp) throw new Error('connection refused');
      answer[settlement]();
    };
    return {
      granted: true,
      commit: () => settle('commit'),
      reset: () => settle('reset'),
      release: () => settle('release'),
    };
  }

  override async peek(rate: Rate, key: string): Promise<WindowState> {
    return this.server.limiter.peek(this.server.rate(rate), key);
  }

  override async reset(rate: Rate, key: string): Promise<boolean> {
    return this.server.limiter.reset(this.server.rate(rate), key);
  }
}

function cluster(nodes: number) {
  const clock = new ManualClock();
  const server = new Server(clock);
  const changes: string[] = [];
  const all = Array.from({ length: nodes }, () => {
    const own = new MemoryRateLimiter({ clock });
    const limiter = new FallbackRateLimiter(new ServerClient(server), own, {
      clock,
      onChange: (error) => changes.push(error ? 'degraded' : 'recovered'),
    });
    return { own, limiter, rate: limiter.define('login', { limit: 5, windowMs: 60_000 }) };
  });
  const countGranted = async (attempts: number): Promise<number> => {
    let counted = 0;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const { limiter, rate } = all[attempt % nodes]!;
      if (!(await limiter.count(rate, 'alice'))) counted++;
    }
    return counted;
  };
  return { clock, server, changes, all, countGranted };
}

describe('FallbackRateLimiter', () => {
  test('grants as many events to all nodes together as to one', async () => {
    const { countGranted } = cluster(3);
    expect(await countGranted(60)).toBe(5);
  });

  test('limits each node on its own while the server is down: at most nodes × limit', async () => {
    const { server, countGranted, changes } = cluster(3);
    server.isUp = false;
    expect(await countGranted(90)).toBe(15);
    expect(changes).toEqual(['degraded', 'degraded', 'degraded']);
  });

  test.each(['reserve', 'count', 'countAll'] as const)(
    'grants no more than the limit when the server fails in the middle of parallel events (%s)',
    async (method) => {
      const { server, all } = cluster(1);
      const { limiter, rate } = all[0]!;
      let calls = 0;
      // The answers for the first five arrive after the failures of all others.
      server.delay = async () => {
        const isLost = ++calls > 5;
        for (let turn = 0; turn < (isLost ? 1 : 5); turn++) await new Promise((next) => setImmediate(next));
        if (isLost) throw new Error('timeout');
      };
      const attempt = async () => {
        if (method === 'reserve') return (await limiter.reserve([{ rate, key: 'alice' }])).granted;
        const refusal = await (method === 'count'
          ? limiter.count(rate, 'alice')
          : limiter.countAll([{ rate, key: 'alice' }]));
        return refusal === undefined;
      };
      const granted = await Promise.all(Array.from({ length: 100 }, attempt));
      expect(granted.filter(Boolean)).toHaveLength(5);
    },
  );

  test('returns what it has reserved on its own when the shared limiter refuses', async () => {
    const { all, countGranted } = cluster(2);
    expect(await countGranted(5)).toBe(5);
    const { limiter, own, rate } = all[0]!;
    for (let n = 0; n < 9; n++) expect((await limiter.reserve([{ rate, key: 'alice' }])).granted).toBe(false);
    for (let n = 0; n < 9; n++) expect(await limiter.countAll([{ rate, key: 'alice' }])).toBeDefined();
    expect(own.peek(rate, 'alice')).toMatchObject({ counted: 3, inFlight: 0 });
  });

  test('counts the events that this node granted before the server failed', async () => {
    const { server, countGranted } = cluster(3);
    expect(await countGranted(5)).toBe(5);
    server.isUp = false;
    expect(await countGranted(90)).toBe(10);
  });

  test('does not call a failed server for a while, then uses it again', async () => {
    const { clock, server, all, changes } = cluster(1);
    const { limiter, rate } = all[0]!;
    server.isUp = false;
    for (let n = 0; n < 10; n++) await limiter.count(rate, `u${n}`);
    expect(server.calls).toBe(1);
    server.isUp = true;
    clock.advance(999);
    await limiter.count(rate, 'u');
    expect([server.calls, limiter.isDegraded]).toEqual([1, true]);
    clock.advance(1);
    await limiter.count(rate, 'u');
    expect([server.calls, limiter.isDegraded]).toEqual([2, false]);
    expect(changes).toEqual(['degraded', 'recovered']);
  });

  test('settles a reservation in both limiters, and does not reject if the server fails in between', async () => {
    const { server, all } = cluster(1);
    const { limiter, own, rate } = all[0]!;
    const keys = [{ rate, key: 'alice' }];
    const [failed, abandoned] = [await limiter.reserve(keys), await limiter.reserve(keys)];
    if (!failed.granted || !abandoned.granted) throw new Error('refused');
    await failed.commit();
    expect(await limiter.peek(rate, 'alice')).toMatchObject({ counted: 1, inFlight: 1 });
    expect(own.peek(rate, 'alice')).toMatchObject({ counted: 1, inFlight: 1 });
    server.isUp = false;
    await abandoned.release();
    expect(limiter.isDegraded).toBe(true);
    expect(own.peek(rate, 'alice')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('applies the outcome of a shared reservation to its own windows, even if an outage has filled them', async () => {
    const { clock, server, all, countGranted } = cluster(1);
    const { limiter, own, rate } = all[0]!;
    const other = limiter.define('source', { limit: 30, windowMs: 60_000 });
    const keys = [
      { rate, key: 'alice' },
      { rate: other, key: 'home' },
    ];
    server.isUp = false;
    expect(await countGranted(6)).toBe(5);
    server.isUp = true;
    clock.advance(1000);
    const failed = await limiter.reserve(keys);
    if (!failed.granted) throw new Error('refused');
    await failed.commit();
    expect([own.peek(rate, 'alice').counted, own.peek(other, 'home').counted]).toEqual([5, 1]);
    const succeeded = await limiter.reserve(keys);
    if (!succeeded.granted) throw new Error('refused');
    await succeeded.reset();
    expect([own.peek(rate, 'alice').counted, own.peek(other, 'home').counted]).toEqual([0, 0]);
  });

  test('resets a key in both limiters', async () => {
    const { server, all, countGranted } = cluster(2);
    await countGranted(5);
    const { limiter, rate, own } = all[0]!;
    expect(await limiter.reset(rate, 'alice')).toBe(true);
    expect(own.peek(rate, 'alice').counted).toBe(0);
    expect((await limiter.peek(rate, 'alice')).counted).toBe(0);
    server.isUp = false;
    expect(await limiter.reset(rate, 'alice')).toBe(false);
  });
});

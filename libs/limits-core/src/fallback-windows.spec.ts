import { ManualClock } from './clock.js';
import { FallbackWindows } from './fallback-windows.js';
import { RateWindows } from './rate-windows.js';
import type { Claim, Rate, RateRefusal, Reservation, WindowView } from './rate.js';
import { SharedWindows } from './shared-windows.port.js';

/** A server that several nodes share: one table, which each node reaches by its own rates' names. */
class Server {
  up = true;
  calls = 0;
  readonly windows: RateWindows;

  constructor(clock: ManualClock) {
    this.windows = new RateWindows({ clock });
  }

  rate(rate: Rate): Rate {
    this.calls++;
    if (!this.up) throw new Error('connection refused');
    return this.windows.define(rate.name, rate);
  }
}

class Link extends SharedWindows {
  constructor(readonly server: Server) {
    super();
  }

  override async count(rate: Rate, key: string): Promise<RateRefusal | undefined> {
    return this.server.windows.count(this.server.rate(rate), key);
  }

  override async reserve(claims: readonly Claim[]): Promise<Reservation | RateRefusal> {
    const answer = this.server.windows.reserve(claims.map(({ rate, key }) => ({ rate: this.server.rate(rate), key })));
    if (!answer.granted) return answer;
    const settle = async (outcome: 'keep' | 'forget' | 'release') => {
      if (!this.server.up) throw new Error('connection refused');
      answer[outcome]();
    };
    return {
      granted: true,
      keep: () => settle('keep'),
      forget: () => settle('forget'),
      release: () => settle('release'),
    };
  }

  override async peek(rate: Rate, key: string): Promise<WindowView> {
    return this.server.windows.peek(this.server.rate(rate), key);
  }

  override async forgive(rate: Rate, key: string): Promise<boolean> {
    return this.server.windows.forgive(this.server.rate(rate), key);
  }
}

function cluster(nodes: number) {
  const clock = new ManualClock();
  const server = new Server(clock);
  const changes: string[] = [];
  const all = Array.from({ length: nodes }, () => {
    const own = new RateWindows({ clock });
    const windows = new FallbackWindows(new Link(server), own, {
      clock,
      onChange: (error) => changes.push(error ? 'lost' : 'found'),
    });
    return { own, windows, rate: windows.define('login', { limit: 5, windowMs: 60_000 }) };
  });
  const through = async (attempts: number): Promise<number> => {
    let counted = 0;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const { windows, rate } = all[attempt % nodes]!;
      if (!(await windows.count(rate, 'alice'))) counted++;
    }
    return counted;
  };
  return { clock, server, changes, all, through };
}

describe('FallbackWindows', () => {
  test('lets all nodes together through as often as one', async () => {
    const { through } = cluster(3);
    expect(await through(60)).toBe(5);
  });

  test('bounds each node on its own while the server is away: nodes × limit at most', async () => {
    const { server, through, changes } = cluster(3);
    server.up = false;
    expect(await through(90)).toBe(15);
    expect(changes).toEqual(['lost', 'lost', 'lost']);
  });

  test('remembers what this node let through before the server was lost', async () => {
    const { server, through } = cluster(3);
    expect(await through(5)).toBe(5);
    server.up = false;
    expect(await through(90)).toBe(10);
  });

  test('leaves a server that failed alone for a while, then takes it back', async () => {
    const { clock, server, all, changes } = cluster(1);
    const { windows, rate } = all[0]!;
    server.up = false;
    for (let n = 0; n < 10; n++) await windows.count(rate, `u${n}`);
    expect(server.calls).toBe(1);
    server.up = true;
    clock.advance(999);
    await windows.count(rate, 'u');
    expect([server.calls, windows.away]).toEqual([1, true]);
    clock.advance(1);
    await windows.count(rate, 'u');
    expect([server.calls, windows.away]).toEqual([2, false]);
    expect(changes).toEqual(['lost', 'found']);
  });

  test('settles a reservation in both, and does not fail when the server is lost meanwhile', async () => {
    const { server, all } = cluster(1);
    const { windows, own, rate } = all[0]!;
    const claims = [{ rate, key: 'alice' }];
    const [failed, abandoned] = [await windows.reserve(claims), await windows.reserve(claims)];
    if (!failed.granted || !abandoned.granted) throw new Error('refused');
    await failed.keep();
    expect(await windows.peek(rate, 'alice')).toMatchObject({ counted: 1, inFlight: 1 });
    expect(own.peek(rate, 'alice')).toMatchObject({ counted: 1, inFlight: 1 });
    server.up = false;
    await abandoned.release();
    expect(windows.away).toBe(true);
    expect(own.peek(rate, 'alice')).toMatchObject({ counted: 1, inFlight: 0 });
  });

  test('takes over into windows of its own that an outage has filled how a reservation in the shared ones ended', async () => {
    const { clock, server, all, through } = cluster(1);
    const { windows, own, rate } = all[0]!;
    const other = windows.define('source', { limit: 30, windowMs: 60_000 });
    const claims = [
      { rate, key: 'alice' },
      { rate: other, key: 'home' },
    ];
    server.up = false;
    expect(await through(6)).toBe(5);
    server.up = true;
    clock.advance(1000);
    const failed = await windows.reserve(claims);
    if (!failed.granted) throw new Error('refused');
    await failed.keep();
    expect([own.peek(rate, 'alice').counted, own.peek(other, 'home').counted]).toEqual([5, 1]);
    const succeeded = await windows.reserve(claims);
    if (!succeeded.granted) throw new Error('refused');
    await succeeded.forget();
    expect([own.peek(rate, 'alice').counted, own.peek(other, 'home').counted]).toEqual([0, 0]);
  });

  test('forgives a key everywhere it can', async () => {
    const { server, all, through } = cluster(2);
    await through(5);
    const { windows, rate, own } = all[0]!;
    expect(await windows.forgive(rate, 'alice')).toBe(true);
    expect(own.peek(rate, 'alice').counted).toBe(0);
    expect((await windows.peek(rate, 'alice')).counted).toBe(0);
    server.up = false;
    expect(await windows.forgive(rate, 'alice')).toBe(false);
  });
});

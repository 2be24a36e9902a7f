import { FallbackWindows, RateWindows, type Claim, type RateRefusal, type Reservation } from '@headgate/limits-core';
import { ServerTooSlow } from './redis-connection.js';
import { RedisWindows } from './redis-windows.js';
import { TestServer, serverProgram } from './test-server.js';

// Without a server's program there is nothing to talk to: the title says so in the list of what was skipped.
const suite = serverProgram ? describe : describe.skip;

suite(
  `RedisWindows on ${serverProgram ?? 'a real server (neither redis-server nor valkey-server is installed)'}`,
  () => {
    let server: TestServer;
    let nodes: RedisWindows[];
    const local = new RateWindows();
    const account = local.define('login.account', { limit: 5, windowMs: 60_000 });
    const source = local.define('login.source', { limit: 30, windowMs: 60_000 });
    let alice: Claim[];
    let run = 0;

    beforeAll(async () => {
      server = await TestServer.start();
      nodes = [1, 2].map(() => RedisWindows.open({ url: server.url, timeoutMs: 5000 }));
      await answering(nodes);
    });
    beforeEach(() => {
      run++;
      alice = [
        { rate: account, key: `alice-${run}` },
        { rate: source, key: `source-${run}` },
      ];
    });
    afterAll(async () => {
      for (const node of nodes) await node.close();
      await server.close();
    });

    test('counts over all nodes up to the limit, and says when the window closes', async () => {
      const answers = [];
      for (let event = 0; event < 8; event++) answers.push(await nodes[event % 2]!.count(account, alice[0]!.key));
      expect(answers.filter((answer) => answer === undefined)).toHaveLength(5);
      const refusal = answers.at(-1)!;
      expect(refusal).toMatchObject({ granted: false, rate: 'login.account', limit: 5 });
      expect(refusal.retryAfterMs).toBeGreaterThan(50_000);
      expect(refusal.retryAfterMs).toBeLessThanOrEqual(60_000);
    });

    test('lets exactly five of a hundred parallel attempts through, on two nodes', async () => {
      const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => nodes[n % 2]!.reserve(alice)));
      const through = answers.filter((answer) => answer.granted);
      expect(through).toHaveLength(5);
      await Promise.all(through.map((reservation) => reservation.keep()));
      expect(await nodes[0]!.peek(source, alice[1]!.key)).toMatchObject({ counted: 5, inFlight: 0 });
      expect((await nodes[1]!.reserve(alice)).granted).toBe(false);
    });

    test('takes all keys or none', async () => {
      for (let event = 0; event < 30; event++) await nodes[0]!.count(source, alice[1]!.key);
      expect(await nodes[0]!.reserve(alice)).toMatchObject({ rate: 'login.source' });
      expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 0, inFlight: 0, closesInMs: 0 });
    });

    test('forgets the history of both keys on success, and leaves no trace of what is released', async () => {
      for (let failure = 0; failure < 3; failure++) await granted(await nodes[0]!.reserve(alice)).keep();
      const other = granted(await nodes[1]!.reserve(alice));
      await granted(await nodes[0]!.reserve(alice)).forget();
      expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 0, inFlight: 1 });
      await other.release();
      await other.keep();
      expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 0, inFlight: 0, closesInMs: 0 });
    });

    test('keeps what was reserved before a key was forgiven out of its next window', async () => {
      const old = granted(await nodes[0]!.reserve(alice));
      expect(await nodes[0]!.forgive(account, alice[0]!.key)).toBe(true);
      await nodes[0]!.count(account, alice[0]!.key);
      await old.keep();
      expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 1, inFlight: 0 });
    });

    test('knows its scripts again after the server has lost them', async () => {
      const other = await TestServer.start();
      const node = RedisWindows.open({ url: other.url, timeoutMs: 5000 });
      await answering([node]);
      expect(await node.count(account, 'a')).toBeUndefined();
      await other.stop();
      await other.start();
      await answering([node]);
      expect(await node.count(account, 'a')).toBeUndefined();
      await node.close();
      await other.close();
    });

    test('rejects within the time allowed when the server stands still, and the node falls back to its own windows', async () => {
      const other = await TestServer.start();
      const node = RedisWindows.open({ url: other.url, timeoutMs: 50 });
      await answering([node]);
      const own = new RateWindows();
      const lost: unknown[] = [];
      const windows = new FallbackWindows(node, own, { onChange: (error) => lost.push(error) });
      const rate = windows.define('login.account', { limit: 2, windowMs: 60_000 });
      expect(await windows.count(rate, 'a')).toBeUndefined();
      other.freeze();
      expect(await windows.count(rate, 'a')).toBeUndefined();
      expect(await windows.count(rate, 'a')).toMatchObject({ granted: false });
      expect(lost).toEqual([expect.any(ServerTooSlow)]);
      await node.close();
      await other.close();
    });

    test('rejects at once when there is no server', async () => {
      const node = RedisWindows.open({ url: 'redis://127.0.0.1:1' });
      await expect(node.count(account, 'a')).rejects.toThrow();
      await node.close();
    });
  },
);

const granted = (answer: Reservation | RateRefusal): Reservation => {
  if (!answer.granted) throw new Error(`refused by ${answer.rate}`);
  return answer;
};

/** Waits until each node has its connection. */
async function answering(nodes: RedisWindows[]): Promise<void> {
  for (const node of nodes) {
    for (let tries = 0; ; tries++) {
      const up = await node.ping().then(
        () => true,
        () => false,
      );
      if (up) break;
      if (tries === 500) throw new Error('The server was not reached within 500 tries.');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

import { createHash } from 'node:crypto';
import { RateWindows, type Claim, type RateRefusal, type Reservation } from '@headgate/limits-core';
import { RedisConnection } from './redis-connection.js';
import { RedisWindows } from './redis-windows.js';
import { LEASE_MS, SETTLE } from './scripts.js';
import { answering } from './testing/answering.js';
import { TestServer, serverProgram } from './testing/test-server.js';

// Without a server's program there is nothing to talk to: the title says so in the list of what was skipped.
const suite = serverProgram ? describe : describe.skip;

suite(
  `RedisWindows on ${serverProgram ?? 'a real server (neither redis-server nor valkey-server is installed)'}`,
  () => {
    let server: TestServer;
    let nodes: RedisWindows[];
    let raw: RedisConnection;
    const local = new RateWindows();
    const account = local.define('login.account', { limit: 5, windowMs: 60_000 });
    const source = local.define('login.source', { limit: 30, windowMs: 60_000 });
    let alice: Claim[];
    let run = 0;

    beforeAll(async () => {
      server = await TestServer.start();
      nodes = [1, 2].map(() => RedisWindows.open({ url: server.url, timeoutMs: 5000 }));
      raw = new RedisConnection({ url: server.url, timeoutMs: 5000 });
      await answering(...nodes, { ping: async () => void (await raw.run(['PING'])) });
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
      raw.close();
      await server.close();
    });

    /** What the server calls a window. */
    async function nameOf({ key }: Claim): Promise<string> {
      const digest = createHash('sha256').update(key).digest('base64url').slice(0, 22);
      return ((await raw.run(['KEYS', `*${digest}`])) as string[])[0]!;
    }

    /** As if so many leases had passed. */
    async function age(claims: readonly Claim[], leases: number): Promise<void> {
      for (const claim of claims) await raw.run(['HINCRBY', await nameOf(claim), 'turn', String(-leases)]);
    }

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

    test('gives back what a node held that died, and counts what one keeps that was only slow', async () => {
      const [lost, slow] = [granted(await nodes[0]!.reserve(alice)), granted(await nodes[1]!.reserve(alice))];
      await age(alice, 1);
      await granted(await nodes[0]!.reserve(alice)).forget();
      expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ inFlight: 2 });
      await age(alice, 1);
      expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ inFlight: 0 });
      await slow.keep();
      expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 1, inFlight: 0 });
      await lost.release();
      expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ counted: 1, inFlight: 0 });
    });

    test('settles a reservation of the lease before this one, and none of an older one', async () => {
      await nodes[0]!.reserve([alice[0]!]);
      await age([alice[0]!], 1);
      await nodes[0]!.reserve([alice[0]!]);
      const name = await nameOf(alice[0]!);
      const opening = (await raw.run(['HGET', name, 'opening'])) as string;
      const [seconds] = (await raw.run(['TIME'])) as string[];
      const releaseTakenAgo = (leases: number) =>
        raw.script(SETTLE, [name], ['release', String(Number(seconds) * 1000 - leases * LEASE_MS), '60000', opening]);
      await releaseTakenAgo(2);
      expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ inFlight: 2 });
      await releaseTakenAgo(1);
      expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ inFlight: 1 });
      await releaseTakenAgo(0);
      expect(await nodes[0]!.peek(account, alice[0]!.key)).toMatchObject({ inFlight: 0, closesInMs: 0 });
    });

    test('anchors a window at the first event that counts, and holds it open while one is only in flight', async () => {
      const [claim] = alice as [Claim];
      const closes = async () => (await nodes[0]!.peek(account, claim.key)).closesInMs;
      const halfPassed = async () => void (await raw.run(['PEXPIRE', await nameOf(claim), '30000']));
      const first = granted(await nodes[0]!.reserve([claim]));
      await halfPassed();
      await granted(await nodes[1]!.reserve([claim])).release();
      expect(await closes()).toBeGreaterThan(50_000);
      await halfPassed();
      await first.keep();
      expect(await closes()).toBeGreaterThan(50_000);
      await halfPassed();
      await nodes[1]!.count(account, claim.key);
      await granted(await nodes[1]!.reserve([claim])).keep();
      expect(await closes()).toBeLessThanOrEqual(30_000);
    });

    test('weighs every key the same, under 200 bytes, and does not name it', async () => {
      const long = 'nora'.repeat(10_000);
      for (const key of ['nora', long]) await granted(await nodes[0]!.reserve([{ rate: account, key }])).keep();
      const names = (await raw.run(['KEYS', '*login.account*'])) as string[];
      const weights = [];
      for (const name of names) weights.push(await raw.run(['MEMORY', 'USAGE', name, 'SAMPLES', '0']));
      expect(names.join()).not.toContain('nora');
      expect(Math.max(...(weights as number[]))).toBeLessThan(200);
    });

    test('refuses one key twice', async () => {
      await expect(nodes[0]!.reserve([alice[0]!, alice[0]!])).rejects.toThrow(RangeError);
    });
  },
);

const granted = (answer: Reservation | RateRefusal): Reservation => {
  if (!answer.granted) throw new Error(`refused by ${answer.rate}`);
  return answer;
};

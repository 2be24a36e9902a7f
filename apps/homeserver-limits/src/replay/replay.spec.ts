import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonResponse } from '@headgate/homeserver-contracts';
import { ManualClock, MemoryRateLimiter } from '@headgate/limits-core';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { RequestLog } from '../reports/request-log.js';
import { Rules } from '../rules/rules.js';
import { eachLine } from './log-lines.js';
import { Replay } from './replay.js';
import { replayCommand } from './replay-command.js';

const START_MS = 1_700_000_000_000;
const RULES = `
[[rules]]
name = "messages"
on = ["message"]
by = "user"
limit = 2
window = "10s"
algorithm = "gcra"
[[rules]]
name = "bytes"
on = ["upload"]
by = "user"
limit = 3000
window = "1h"
unit = "bytes"
[rates.login_source]
limit = 10
block = { after = 2, within = "1h", for = "5m" }
`;
const silent = { error: () => undefined };

describe('a replay', () => {
  let folder: string;
  let log: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'replay-'));
    log = join(folder, 'requests.jsonl');
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Random requests of a day, decided and recorded as a gateway does. @returns the refusing rule of each request */
  async function record(toml: string, count: number): Promise<(string | undefined)[]> {
    const clock = new ManualClock();
    const requests = RequestLog.open(log, silent, () => START_MS + clock.now());
    const decided: (string | undefined)[] = [];
    const recorder = {
      onDecided: (...args: Parameters<RequestLog['onDecided']>) => {
        decided.push(args[1]);
        return requests.onDecided(...args);
      },
      onSettled: (...args: Parameters<RequestLog['onSettled']>) => requests.onSettled(...args),
    };
    const listener = { onGranted: () => undefined, onRefused: () => undefined };
    const rules = new Rules(new MemoryRateLimiter({ clock }), new LiveConfig(parseConfig(toml)), listener, {
      recorder,
    });
    const random = randomNumbers(7);
    const inProgress: (() => void)[] = [];
    for (let i = 0; i < count; i++) {
      clock.advance(Math.floor(random() * 400));
      const user = `@user${Math.floor(random() * 8)}:b.example`;
      const address = `192.0.2.${random() < 0.9 ? 1 : 2}`;
      const status = random() < 0.7 ? 403 : 200;
      const part = [
        { event: 'login', account: `user:${user}` } as const,
        { event: 'message', user, room: '!r' } as const,
        { event: 'ring', user } as const,
        { event: 'upload', user, bytes: Math.floor(random() * 1000) } as const,
      ][Math.floor(random() * 4)]!;
      const answer = Promise.withResolvers<void>();
      const running = rules.run({ address, source: address }, [part], async () => {
        await answer.promise;
        return jsonResponse(status, {});
      });
      running.catch(() => undefined);
      inProgress.push(answer.resolve);
      // Several requests are in progress at a time, and end in any order.
      if (inProgress.length > 4) inProgress.splice(Math.floor(random() * 4), 1)[0]!();
      await new Promise((next) => setImmediate(next));
    }
    for (const finish of inProgress) finish();
    await new Promise((next) => setImmediate(next));
    await requests.onApplicationShutdown();
    return decided;
  }

  function replayed(toml: string) {
    const replay = new Replay(parseConfig(toml).rules);
    const decided: (string | undefined)[] = [];
    eachLine(log, (line) => {
      const before = replay.report.requests;
      const refusedBy = replay.play(line);
      if (replay.report.requests > before) decided.push(refusedBy);
    });
    return { decided, report: replay.report };
  }

  test('with the same rules decides on every request as the gateway did', async () => {
    const decided = await record(RULES, 3_000);
    const { decided: again, report } = replayed(RULES);
    expect(again).toEqual(decided);
    expect(new Set(decided)).toEqual(
      new Set([undefined, 'messages', 'bytes', 'login_account', 'login_source', 'ring']),
    );
    expect([report.refusedNow, report.grantedNow, report.invalidLines]).toEqual([0, 0, 0]);
    expect(report.refused).toBe(decided.filter(Boolean).length);
  });

  test('finds who would have been refused by a rule that was not there', async () => {
    expect((await record('', 1_000)).includes('messages')).toBe(false);
    const { report } = replayed(RULES);
    const messages = report.rules.get('messages')!;
    expect(messages.refused).toBeGreaterThan(0);
    expect([...messages.keys.keys()].every((key) => key.startsWith('@user'))).toBe(true);
    expect(report.refusedNow).toBeGreaterThanOrEqual(messages.refused);
  });

  test('counts the bytes of a response, which is no further request', async () => {
    const line = (id: number, part: object) => ({
      t: START_MS + id,
      id,
      address: '192.0.2.1',
      parts: [{ event: 'download', user: '@a:b', ...part }],
    });
    const lines = [1, 2, 3].flatMap((n) => [line(2 * n, {}), line(2 * n + 1, { bytes: 400, isResponse: true })]);
    await writeFile(log, lines.map((one) => JSON.stringify(one)).join('\n'));
    const rule = (name: string, limit: number, more = '') =>
      `[[rules]]\nname = "${name}"\non = ["download"]\nby = "user"\nlimit = ${limit}\nwindow = "1h"\n${more}`;
    const { report } = replayed(`${rule('volume', 1000, 'unit = "bytes"\n')}${rule('count', 3)}`);
    expect(report).toMatchObject({ requests: 3, refused: 1, refusedNow: 1 });
    expect(report.rules.get('volume')!.refused).toBe(1);
    expect(report.rules.get('count')!.refused).toBe(0);
  });

  test('reports a shadow rule without refusing', async () => {
    await record('', 500);
    const { report } = replayed(
      '[[rules]]\nname = "m"\non = ["message"]\nby = "user"\nlimit = 1\nwindow = "1h"\nshadow = true\n',
    );
    expect(report.rules.get('m')).toMatchObject({ refused: 0, wouldBeRefused: expect.any(Number) });
    expect(report.rules.get('m')!.wouldBeRefused).toBeGreaterThan(50);
    expect(report.refusedNow).toBe(0);
  });

  test('skips lines that are not of a request log, and names the first', async () => {
    const valid = JSON.stringify({
      t: START_MS,
      id: 1,
      address: '192.0.2.1',
      parts: [{ event: 'ring', user: '@a:b' }],
    });
    const broken = ['', '{', 'null', '[]', '{"t":"1"}', '{"t":1}', '{"t":1,"id":1,"outcome":"no"}'];
    const odd = ['{"t":1,"id":2,"address":"x","parts":[null]}', '{"t":1,"id":2,"address":"x","parts":[{"event":"x"}]}'];
    await writeFile(log, [valid, ...broken, ...odd, valid.slice(0, 20)].join('\n'));
    const { report } = replayed('');
    expect(report).toMatchObject({ requests: 1, invalidLines: 10, firstInvalidLine: 2 });
  });

  test('reads lines that are longer than a chunk, and characters of several bytes at its edge', async () => {
    const lines = [`é${'a'.repeat(4 * 1024 * 1024 - 3)}ü`, 'ü'.repeat(3 * 1024 * 1024), 'last'];
    await writeFile(log, lines.join('\n'));
    const read: string[] = [];
    eachLine(log, (line) => read.push(line));
    expect(read.map((line, index) => line === lines[index])).toEqual([true, true, true]);
  });

  test('after a restart of the gateway has no requests in progress from before', async () => {
    const login = { t: START_MS, id: 1, address: '192.0.2.1', parts: [{ event: 'login', account: 'user:a' }] };
    const started = { t: START_MS + 1, started: true };
    const rounds = Array.from({ length: 20 }, () => [login, started]).flat();
    await writeFile(log, rounds.map((line) => JSON.stringify(line)).join('\n'));
    expect(replayed('').report).toMatchObject({ requests: 20, refused: 0 });
  });

  describe('on the command line', () => {
    test('prints the requests, the rules and their keys', async () => {
      const rules = join(folder, 'rules.toml');
      await writeFile(rules, '[rates.ring]\nlimit = 1\n');
      const ring = (ms: number) => ({
        t: START_MS + ms,
        id: ms,
        address: '192.0.2.1',
        parts: [{ event: 'ring', user: '@a:b' }],
      });
      await writeFile(log, [0, 1, 2].map((ms) => JSON.stringify(ring(ms))).join('\n'));
      expect(replayCommand(['--log', log, '--rules', rules])).toBe(
        '3 requests from 2023-11-14T22:13:20.000Z to 2023-11-14T22:13:20.002Z\n' +
          '2 would be refused: 2 that were granted, and 0 that were refused\n' +
          '0 of the 0 that were refused would be granted\n\nring: 2 refused, 1 keys\n  2  @a:b\n',
      );
      const json = JSON.parse(replayCommand(['--log', log, '--rules', rules, '--json', '--top', '1'])) as object;
      expect(json).toMatchObject({
        requests: 3,
        refused: 2,
        rules: expect.arrayContaining([
          { name: 'ring', refused: 2, wouldBeRefused: 0, keys: 1, top: [{ key: '@a:b', refusals: 2 }] },
        ]),
      });
    });

    test.each([
      [[], 'needs --log FILE and --rules FILE'],
      [['--log', 'x'], 'needs --log FILE and --rules FILE'],
      [['--logs', 'x'], 'Unknown option'],
      [['--log', '/nonexistent/x', '--rules', '/nonexistent/y'], 'cannot be read'],
      [['--log', 'x', '--rules', 'y', '--top', '-1'], 'argument'],
    ])('refuses %j with a sentence', (args, problem) => {
      expect(() => replayCommand(args)).toThrow(problem);
    });
  });

  test('is of a log without tokens, passwords and contents', async () => {
    await record(RULES, 50);
    const text = await readFile(log, 'utf8');
    const members = new Set([...text.matchAll(/"(\w+)":/g)].map(([, name]) => name));
    const known = ['t', 'started', 'id', 'address', 'source', 'parts', 'refused', 'outcome'];
    const ofParts = ['event', 'account', 'user', 'appservice', 'room', 'origin', 'targetServer', 'bytes'];
    expect([...members].filter((name) => ![...known, ...ofParts].includes(name!))).toEqual([]);
  });
});

/** The same numbers from 0 to 1 each time. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

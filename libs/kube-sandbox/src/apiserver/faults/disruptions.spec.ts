import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { ManualClock, SkewedClock } from '../clock.js';
import { KubeSandbox, type KubeSandboxOptions } from '../../kube-sandbox.js';
import { ApiClient } from '../../testing/api-client.js';
import { machine, machines, MACHINES, MACHINES_PATH } from '../../testing/machine.js';

/** The names of the machines of a page, and its token. */
interface Page {
  metadata: { continue?: string; resourceVersion: string };
  items: { metadata: { name: string } }[];
}

describe('Faults of a busy or broken cluster', () => {
  let sandbox: KubeSandbox;
  let api: ApiClient;

  async function open(options: KubeSandboxOptions = {}): Promise<void> {
    sandbox = await KubeSandbox.listen({ namespaces: ['lab'], ...options });
    sandbox.registry.register(machines);
    for (const name of ['a', 'b', 'c']) sandbox.store.create(MACHINES, machine(name));
    api = new ApiClient(sandbox);
  }

  afterEach(() => sandbox.close());

  const names = (): string[] => sandbox.store.list(MACHINES).map(({ metadata }) => metadata.name);

  /**
   * Sends a request on a connection of its own.
   * @returns the code of the error, and how much of the body arrived before it
   */
  function failing(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ code?: string; status?: number; text: string }> {
    return new Promise((resolve) => {
      let status: number | undefined;
      let text = '';
      const failed = (error: NodeJS.ErrnoException): void => resolve({ code: error.code, status, text });
      const sent = request(sandbox.url + path, { method, agent: false }, (response: IncomingMessage) => {
        status = response.statusCode;
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status, text })).on('error', failed);
      });
      sent.on('error', failed).end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  test('an overloaded server answers 429 as API Priority and Fairness does, and for every third request only', async () => {
    await open();
    sandbox.faults.overload({ resource: MACHINES, verb: 'create' }, { every: 3 }, 2);
    const created = [];
    for (const name of ['d', 'e', 'f', 'g']) created.push(await api.post(MACHINES_PATH, machine(name)));
    expect(created.map(({ code }) => code)).toEqual([201, 201, 429, 201]);
    const { headers, text } = created[2]!;
    expect(text).toBe('Too many requests, please try again later.\n');
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('retry-after')).toBe('2');
    expect(headers.get('cache-control')).toBe('no-cache, private');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-kubernetes-pf-flowschema-uid')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('x-kubernetes-pf-prioritylevel-uid')).toMatch(/^[0-9a-f-]{36}$/);
    expect(names()).not.toContain('f');
  });

  test('requests are counted per verb, path and selector, whatever the random end of a name', async () => {
    await open();
    sandbox.faults.overload({ resource: MACHINES }, { every: 2, per: 'path' });
    const codesOf = async (...paths: string[]): Promise<number[]> => {
      const codes = [];
      for (const path of paths) codes.push((await api.get(path)).code);
      return codes;
    };
    /** Four requests to a path, with the requests to another one in between. */
    const pattern = async (path: string, other: string, between: number): Promise<boolean[]> => {
      const found = [];
      for (let round = 0; round < 4; round++) {
        const codes = await codesOf(path, ...Array.from({ length: between }, () => other));
        found.push(codes[0] === 429);
      }
      return found;
    };
    const [a, b] = [`${MACHINES_PATH}/a`, `${MACHINES_PATH}/b`];
    const alone = await pattern(a, b, 0);
    expect([alone[0] === alone[2], alone[1] === alone[3], alone[0] === alone[1]]).toEqual([true, true, false]);
    expect(await pattern(a, b, 3)).toEqual(alone);
    const random = await codesOf(...['bcdfg', 'x2456', 'zzzzz', 'wwwww'].map((end) => `${MACHINES_PATH}/gone-${end}`));
    expect(random.filter((code) => code === 429)).toHaveLength(2);
    const hex = await codesOf(...['0a1b2c3d', 'ffffffff00000000'].map((end) => `${MACHINES_PATH}/gone-${end}`));
    expect(hex.filter((code) => code === 429)).toHaveLength(1);
    const lists = await pattern(`${MACHINES_PATH}?labelSelector=a%3Db`, `${MACHINES_PATH}?labelSelector=c%3Dd`, 1);
    expect([lists[0] === lists[2], lists[0] === lists[1]]).toEqual([true, false]);
  });

  test('a page after the first expires, with a token for the inconsistent rest', async () => {
    await open();
    sandbox.faults.expirePages({ resource: MACHINES }, { times: 1 });
    const first = await api.get<Page>(`${MACHINES_PATH}?limit=1`);
    expect(first.code).toBe(200);
    const late = await api.get<Page & { message: string }>(
      `${MACHINES_PATH}?limit=1&continue=${first.body.metadata.continue}`,
    );
    expect(late).toMatchObject({ code: 410, body: { reason: 'Expired', status: 'Failure' } });
    expect(late.body.message).toMatch(
      /^The provided continue parameter is too old to display a consistent list result\./,
    );
    sandbox.store.create(MACHINES, machine('b1'));
    sandbox.store.delete(MACHINES, { namespace: 'lab', name: 'b' });
    const rest = await api.get<Page>(`${MACHINES_PATH}?limit=5&continue=${late.body.metadata.continue}`);
    expect(rest.body.items.map(({ metadata }) => metadata.name)).toEqual(['b1', 'c']);
    expect(rest.body.metadata.resourceVersion).toBe(String(sandbox.store.revision));
  });

  test('a compacted page has the same token', async () => {
    await open();
    const first = await api.get<Page>(`${MACHINES_PATH}?limit=1`);
    sandbox.store.delete(MACHINES, { namespace: 'lab', name: 'b' });
    sandbox.store.compact();
    const path = `${MACHINES_PATH}?limit=5&continue=`;
    const late = await api.get<Page>(path + first.body.metadata.continue);
    expect(late.code).toBe(410);
    const rest = await api.get<Page>(path + late.body.metadata.continue);
    expect(rest.body.items.map(({ metadata }) => metadata.name)).toEqual(['c']);
  });

  test('a watch that resumes gets 410, and one that begins with the present objects does not', async () => {
    await open();
    sandbox.faults.expireWatches({ resource: MACHINES });
    const fresh = await api.watch(`${MACHINES_PATH}?watch=true`);
    expect(await fresh.take(1)).toEqual(['ADDED a']);
    const resumed = await api.watch(`${MACHINES_PATH}?watch=true&resourceVersion=7`);
    expect(await resumed.next()).toMatchObject({
      type: 'ERROR',
      object: { code: 410, reason: 'Expired', message: `too old resource version: 7 (${sandbox.store.revision})` },
    });
    expect(await resumed.next()).toBeUndefined();
    fresh.close();
  });

  test('a connection is reset before the request has an effect', async () => {
    await open();
    sandbox.faults.reset({ resource: MACHINES }, 'before', { times: 1 });
    expect(await failing('POST', MACHINES_PATH, machine('d'))).toEqual({ code: 'ECONNRESET', text: '' });
    expect(names()).toEqual(['a', 'b', 'c']);
    expect((await failing('POST', MACHINES_PATH, machine('d'))).status).toBe(201);
  });

  test('a connection is reset instead of the answer, after the effect', async () => {
    await open();
    sandbox.faults.reset({ resource: MACHINES }, 'unanswered', { times: 2 });
    expect(await failing('POST', MACHINES_PATH, machine('d'))).toEqual({ code: 'ECONNRESET', text: '' });
    expect(names()).toEqual(['a', 'b', 'c', 'd']);
    expect(await failing('GET', MACHINES_PATH)).toEqual({ code: 'ECONNRESET', text: '' });
  });

  test('a connection is reset in the middle of an answer', async () => {
    await open();
    const { text: whole } = await failing('GET', MACHINES_PATH);
    sandbox.faults.reset({ resource: MACHINES }, 'halfway', { times: 1 });
    const { code, status, text } = await failing('GET', MACHINES_PATH);
    expect([code, status]).toEqual(['ECONNRESET', 200]);
    expect(text.length).toBe(Math.floor(whole.length / 2));
    expect(whole.startsWith(text)).toBe(true);
  });

  test('the connection of an upgrade is reset', async () => {
    await open();
    sandbox.faults.reset({ resource: 'pods' }, 'unanswered');
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => {
      const headers = { Connection: 'Upgrade', Upgrade: 'websocket' };
      request(`${sandbox.url}/api/v1/namespaces/lab/pods/p/exec`, { headers }).on('error', resolve).end();
    });
    expect(error.code).toBe('ECONNRESET');
  });

  test('watches are reset in the middle of every second event', async () => {
    await open();
    sandbox.faults.resetWatches({ resource: MACHINES }, { every: 2 });
    for (let round = 0; round < 2; round++) {
      const watch = await api.watch(`${MACHINES_PATH}?watch=true`);
      expect(await watch.take(1)).toEqual(['ADDED a']);
      await expect(watch.next()).rejects.toThrow();
      expect(watch.unfinished).toMatch(/^\{"type":"ADDED","object":\{/);
    }
  });

  const webhook = { name: 'machine-validator.lab.dev', url: 'https://lab.lab.svc:443/validate' };

  /** The answer of a request once the clock was advanced by milliseconds, and whether it had come before. */
  async function answered(clock: ManualClock, sent: Promise<{ code: number }>, ms: number): Promise<[number, boolean]> {
    let early = false;
    void sent.then(() => (early = true));
    while (clock.untilNext() !== ms) await new Promise(setImmediate);
    expect(names()).not.toContain('d');
    clock.advance(ms - 1);
    await api.get('/version');
    const wasEarly = early;
    clock.advance(1);
    return [(await sent).code, wasEarly];
  }

  test('a slow webhook delays writes of objects', async () => {
    const clock = new ManualClock();
    await open({ clock });
    sandbox.faults.slowWebhook({ resource: MACHINES }, { ...webhook, delayMs: 4_000 });
    expect((await api.get(`${MACHINES_PATH}/a`)).code).toBe(200);
    expect(await answered(clock, api.post(MACHINES_PATH, machine('d')), 4_000)).toEqual([201, false]);
  });

  test('a webhook that takes too long refuses them with the words of an API server', async () => {
    const clock = new ManualClock();
    await open({ clock });
    sandbox.faults.slowWebhook({ resource: MACHINES }, { ...webhook, delayMs: 60_000 });
    const sent = api.post(MACHINES_PATH, machine('d'));
    expect(await answered(clock, sent, 10_000)).toEqual([500, false]);
    const message =
      'Internal error occurred: failed calling webhook "machine-validator.lab.dev": failed to call webhook: Post "https://lab.lab.svc:443/validate?timeout=10s": context deadline exceeded';
    expect((await sent).body).toMatchObject({ reason: 'InternalError', message });
    expect(names()).not.toContain('d');
  });

  test('the clock of the cluster differs from that of its clients', async () => {
    const clock = new SkewedClock(new ManualClock(), 3_600_000);
    await open({ clock });
    const createdAt = async (name: string): Promise<unknown> =>
      (await api.post<{ metadata: { creationTimestamp: string } }>(MACHINES_PATH, machine(name))).body.metadata
        .creationTimestamp;
    expect(await createdAt('d')).toBe('2026-01-01T01:00:00Z');
    clock.offsetMs = -60_000;
    expect(await createdAt('e')).toBe('2025-12-31T23:59:00Z');
  });

  test('removed faults affect no further request or event', async () => {
    await open();
    const clear = sandbox.faults.reset({ resource: MACHINES }, 'before');
    clear();
    sandbox.faults.overload({ resource: MACHINES });
    sandbox.faults.resetWatches({}, {});
    sandbox.faults.clear();
    expect((await api.get(MACHINES_PATH)).code).toBe(200);
    const watch = await api.watch(`${MACHINES_PATH}?watch=true`);
    expect(await watch.take(2)).toEqual(['ADDED a', 'ADDED b']);
    watch.close();
  });
});

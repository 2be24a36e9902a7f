import 'reflect-metadata';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { DomainError, ReplyStore } from '@headgate/domain-contracts';
import { unreachable, Edge, type Reply } from '../testing/edge.js';
import { holdMethod } from '../testing/hold-method.js';

const ann = { 'tailscale-user-login': 'ann' };
const bob = { 'tailscale-user-login': 'bob' };
const VM = { name: 'one', containerDisk: 'example.org/disk:1' };
const START = '/api/vms/default/web/start';

describe('Idempotency-Key', () => {
  let edge: Edge;
  beforeEach(async () => void (edge = await new Edge().open({ SVC_ADMINS: 'ann bob' })));
  afterEach(() => edge.close());

  const post = (path: string, key: string, body?: object, caller: Record<string, string> = ann): Promise<Reply> =>
    edge.send('POST', path, body, { ...caller, 'idempotency-key': key });
  const outcome = ({ status, json, headers }: Reply): unknown[] => [status, json.code, headers['idempotency-replayed']];
  /** Counts the calls of a method of the backend. */
  const count = (target: object, method: string): (() => number) => {
    const methods = target as Record<string, (...args: unknown[]) => unknown>;
    const original = methods[method]!;
    let calls = 0;
    methods[method] = (...args) => {
      calls++;
      return original.apply(target, args);
    };
    return () => calls;
  };
  const fail = (target: object, method: string, error: DomainError): (() => void) => {
    const methods = target as Record<string, unknown>;
    const original = methods[method];
    methods[method] = () => Promise.reject(error);
    return () => void (methods[method] = original);
  };
  /** All bytes of the registry. */
  const registry = (): string =>
    readdirSync(edge.folder)
      .filter((file) => file.startsWith('registry.db'))
      .map((file) => readFileSync(join(edge.folder, file), 'latin1'))
      .join('');

  test('creates a VM once, and sends the first answer again', async () => {
    const first = await post('/api/vms', 'k1', VM);
    expect(outcome(first)).toEqual([201, undefined, undefined]);
    const again = await post('/api/vms', 'k1', VM);
    expect(outcome(again)).toEqual([201, undefined, 'true']);
    expect([again.body, again.headers['content-type']]).toEqual([first.body, first.headers['content-type']]);
    expect(outcome(await post('/api/vms', 'k2', VM))).toEqual([409, 'ALREADY_EXISTS', undefined]);
    expect(edge.lab.engine.all().filter(({ ref }) => ref.name === 'one')).toHaveLength(1);
  });

  test('does not repeat an action, even if the state has changed since', async () => {
    const calls = count(edge.lab.require('power'), 'apply');
    await post(START, 'k1');
    expect((await edge.send('POST', '/api/vms/default/web/stop?force=true', undefined, ann)).status).toBe(200);
    expect(outcome(await post(START, 'k1', {}))).toEqual([200, undefined, 'true']);
    // The start and the stop.
    expect(calls()).toBe(2);
    expect(outcome(await post(START, 'k2'))).toEqual([200, undefined, undefined]);
    expect(calls()).toBe(3);
  });

  test('starts a task once', async () => {
    const body = { action: 'start', refs: ['vm/lab/default/web'] };
    const [first, again] = [await post('/api/ext/bulk', 'k1', body), await post('/api/ext/bulk', 'k1', body)];
    expect(outcome(first)).toEqual([202, undefined, undefined]);
    expect([again.status, again.json['task']]).toEqual([202, first.json['task']]);
    expect((await edge.send('GET', '/api/tasks')).json).toHaveLength(1);
  });

  test('creates an API token once, and keeps neither the token nor the key in the registry', async () => {
    const body = { name: 'ci', actions: ['power'], scope: { context: 'lab' } };
    const key = '0b1c6a7e-5d43-4c55-9df5-7e1ab7d7a2f1';
    const first = await post('/api/ext/tokens', key, body);
    const again = await post('/api/ext/tokens', key, body);
    expect([first.status, first.json['token']]).toEqual([201, expect.stringMatching(/^hgt_/)]);
    expect([again.status, again.json]).toEqual([201, first.json]);
    const bytes = registry();
    // What the registry does contain shows that these are its bytes.
    expect(bytes).toContain(String(first.json['id']));
    expect(bytes).not.toContain(String(first.json['token']));
    expect(bytes).not.toContain(Buffer.from(String(first.json['token'])).toString('base64').slice(4, -4));
    expect(bytes).not.toContain(key);
  });

  test.each([
    ['body', '/api/vms', { ...VM, cpu: 3 }],
    ['query', '/api/vms?context=lab', VM],
  ])('refuses another %s under the same key', async (_part, path, body) => {
    await post('/api/vms', 'k1', VM);
    const reply = await post(path, 'k1', body);
    expect(outcome(reply)).toEqual([409, 'KEY_REUSED', undefined]);
    expect(reply.json.error).toMatch(/Use a new key for each change/);
  });

  test('takes a body with its fields in another order, and {} instead of none, for the same request', async () => {
    await post('/api/vms', 'k1', VM);
    const { name, containerDisk } = VM;
    expect(outcome(await post('/api/vms', 'k1', { containerDisk, name }))).toEqual([201, undefined, 'true']);
    await post(START, 'k2');
    expect(outcome(await post(START, 'k2', {}))).toEqual([200, undefined, 'true']);
  });

  test('keeps callers, tokens and paths apart', async () => {
    await post(START, 'k1');
    expect(outcome(await post(START, 'k1', undefined, bob))).toEqual([200, undefined, undefined]);
    const body = { name: 'ci', actions: ['power'], scope: { context: 'lab' } };
    const { json } = await edge.send('POST', '/api/ext/tokens', body, ann);
    const token = { authorization: `Bearer ${String(json['token'])}` };
    expect(outcome(await post(START, 'k1', undefined, token))).toEqual([200, undefined, undefined]);
    expect(outcome(await post('/api/vms/default/web/stop', 'k1'))).toEqual([200, undefined, undefined]);
  });

  test('answers a second request at the same time with the answer of the first one', async () => {
    const provisioning = edge.lab.require('provisioning');
    const held = holdMethod(provisioning, 'create');
    const first = post('/api/vms', 'k1', VM);
    await held.begun;
    const second = post('/api/vms', 'k1', VM);
    expect(outcome(await post('/api/vms', 'k1', { ...VM, cpu: 3 }))).toEqual([409, 'KEY_REUSED', undefined]);
    held.end();
    expect((await Promise.all([first, second])).map(outcome)).toEqual([
      [201, undefined, undefined],
      [201, undefined, 'true'],
    ]);
  });

  test('carries one of many concurrent requests out', async () => {
    const starts = count(edge.lab.require('power'), 'apply');
    const replies = await Promise.all(Array.from({ length: 20 }, () => post(START, 'k1')));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(replies.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
    expect(starts()).toBe(1);
  });

  test('gives the first answer to a client that has lost its connection meanwhile', async () => {
    const held = holdMethod(edge.lab.require('provisioning'), 'create');
    const aborted = new AbortController();
    const headers = { 'content-type': 'application/json', ...ann, 'idempotency-key': 'k1' };
    const url = `http://${edge.base}/api/vms`;
    const body = JSON.stringify(VM);
    const lost = fetch(url, { method: 'POST', headers, body, signal: aborted.signal });
    await held.begun;
    aborted.abort();
    await expect(lost).rejects.toThrow(/abort/);
    const retry = fetch(url, { method: 'POST', headers, body });
    held.end();
    const { status, headers: received } = await retry;
    expect([status, received.get('idempotency-replayed')]).toEqual([201, 'true']);
  });

  test('sends the answer again after a restart', async () => {
    const first = await post('/api/vms', 'k1', VM);
    await edge.reopen({ SVC_ADMINS: 'ann bob' });
    const again = await post('/api/vms', 'k1', VM);
    expect([...outcome(again), again.body]).toEqual([201, undefined, 'true', first.body]);
  });

  test('does not repeat a request whose process was killed before it had an answer', async () => {
    const held = holdMethod(edge.lab.require('power'), 'apply');
    const first = post(START, 'k1');
    await held.begun;
    // The files as a process leaves them behind that is killed now.
    const next = new Edge();
    cpSync(edge.folder, next.folder, { recursive: true });
    held.end();
    await first;
    await next.open({ SVC_ADMINS: 'ann bob' });
    const starts = count(next.lab.require('power'), 'apply');
    try {
      const headers = { ...ann, 'idempotency-key': 'k1' };
      const reply = await next.send('POST', START, undefined, headers);
      expect(outcome(reply)).toEqual([409, 'ANSWER_UNKNOWN', undefined]);
      expect(reply.json.error).toMatch(/its outcome is unknown.*journal.*tasks/);
      expect(outcome(await next.send('POST', START, { on: true }, headers))).toEqual([409, 'KEY_REUSED', undefined]);
      expect(starts()).toBe(0);
    } finally {
      await next.close();
    }
  });

  test('does not repeat a request whose answer could not be stored, and still sends that answer', async () => {
    const held = holdMethod(edge.lab.require('power'), 'apply');
    const first = post(START, 'k1');
    await held.begun;
    const store = edge.service.app.get(ReplyStore, { strict: false });
    const works = fail(store, 'complete', new DomainError('REGISTRY_FULL', 'The disk is full.'));
    held.end();
    expect(outcome(await first)).toEqual([200, undefined, undefined]);
    works();
    const reply = await post(START, 'k1');
    expect(outcome(reply)).toEqual([409, 'ANSWER_UNKNOWN', undefined]);
    expect(reply.json.error).toMatch(/could not be stored/);
  });

  test('carries nothing out when the key can not be stored', async () => {
    const starts = count(edge.lab.require('power'), 'apply');
    const store = edge.service.app.get(ReplyStore, { strict: false });
    const works = fail(store, 'claim', new DomainError('REGISTRY_FULL', 'The disk is full.'));
    expect(outcome(await post(START, 'k1'))).toEqual([503, 'REGISTRY_FULL', undefined]);
    expect(starts()).toBe(0);
    works();
    expect(outcome(await post(START, 'k1'))).toEqual([200, undefined, undefined]);
  });

  test('keeps refusals that are final', async () => {
    expect(outcome(await post('/api/vms/default/none/start', 'k1'))).toEqual([404, 'INSTANCE_NOT_FOUND', undefined]);
    expect(outcome(await post('/api/vms/default/none/start', 'k1'))).toEqual([404, 'INSTANCE_NOT_FOUND', 'true']);
    expect(outcome(await post('/api/vms', 'k2', { ...VM, name: 'web', namespace: 'default' }))).toEqual([
      409,
      'ALREADY_EXISTS',
      undefined,
    ]);
    await edge.send('DELETE', '/api/vms/default/web', undefined, ann);
    expect(outcome(await post('/api/vms', 'k2', { ...VM, name: 'web', namespace: 'default' }))).toEqual([
      409,
      'ALREADY_EXISTS',
      'true',
    ]);
  });

  test('accepts a corrected request under the key of one that was not valid', async () => {
    expect(outcome(await post('/api/vms', 'k1', { ...VM, cpu: 'two' }))).toEqual([400, 'INVALID_INPUT', undefined]);
    expect(outcome(await post('/api/vms', 'k1', { ...VM, image: 'none' }))).toEqual([400, 'INVALID_SOURCE', undefined]);
    expect(outcome(await post('/api/vms', 'k1', VM))).toEqual([201, undefined, undefined]);
  });

  test('carries a request out again after 403, BUSY and 5xx', async () => {
    expect((await post(START, 'k1', undefined, {})).status).toBe(403);
    const power = edge.lab.require('power');
    const works = fail(power, 'apply', unreachable);
    expect(outcome(await post(START, 'k1'))).toEqual([503, 'BACKEND_UNREACHABLE', undefined]);
    works();
    const held = holdMethod(edge.lab.require('provisioning'), 'delete');
    const deleted = edge.send('DELETE', '/api/vms/default/web', undefined, ann);
    await held.begun;
    expect(outcome(await post(START, 'k1'))).toEqual([409, 'BUSY', undefined]);
    const refused = fail(edge.lab.require('provisioning'), 'delete', new DomainError('BACKEND_FAILED', 'No.'));
    held.end();
    await deleted;
    refused();
  });

  test('carries dry runs out each time', async () => {
    const path = `${START}?dryRun=true`;
    const [first, again] = [await post(path, 'k1'), await post(path, 'k1')];
    expect([outcome(first), outcome(again)]).toEqual([
      [200, undefined, undefined],
      [200, undefined, undefined],
    ]);
    expect(outcome(await post(START, 'k1'))).toEqual([200, undefined, undefined]);
  });

  test.each([
    ['empty', ''],
    ['too long', 'k'.repeat(256)],
    ['with a space', 'a b'],
    ['sent twice', 'a, b'],
    ['beyond ASCII', 'ä'],
  ])('refuses a key that is %s', async (_what, key) => {
    const reply = await post(START, key);
    expect([...outcome(reply), reply.json.error]).toEqual([
      400,
      'INVALID_INPUT',
      undefined,
      expect.stringMatching(/^Idempotency-Key: must have 1 to 255 visible ASCII characters/),
    ]);
  });

  test('accepts 255 visible characters', async () => {
    expect(outcome(await post(START, '"~!'.padEnd(255, 'k')))).toEqual([200, undefined, undefined]);
  });

  test('ignores the header of a DELETE, which may be repeated in any case', async () => {
    const remove = (): Promise<Reply> =>
      edge.send('DELETE', '/api/vms/default/web', undefined, { ...ann, 'idempotency-key': 'k1' });
    expect([outcome(await remove()), outcome(await remove())]).toEqual([
      [200, undefined, undefined],
      [404, 'INSTANCE_NOT_FOUND', undefined],
    ]);
  });

  test('is not needed, and is not a way around the rights of a caller', async () => {
    await post(START, 'k1');
    await edge.reopen({ SVC_ADMINS: 'bob' });
    expect(outcome(await post(START, 'k1'))).toEqual([403, 'NOT_PERMITTED', undefined]);
  });

  test('leaves no entry in the journal for an answer that was sent again', async () => {
    const entries = async (): Promise<number> =>
      ((await edge.send('GET', '/api/ext/journal', undefined, ann)).json as unknown as unknown[]).length;
    await post('/api/folders', 'k1', { path: 'prod' });
    const before = await entries();
    expect(before).toBeGreaterThan(0);
    await post('/api/folders', 'k1', { path: 'prod' });
    await turn();
    expect(await entries()).toBe(before);
    await post('/api/folders', 'k2', { path: 'prod/web' });
    expect(await entries()).toBe(before + 1);
  });

  test('sends a part of an uploaded image once', async () => {
    const path = '/api/datavolumes?name=disk&namespace=default&context=lab&bytes=2048&offset=0';
    const headers = { ...ann, 'idempotency-key': 'k1', 'content-type': 'application/octet-stream' };
    const part = 'x'.repeat(1024);
    const [first, again] = [await edge.send('POST', path, part, headers), await edge.send('POST', path, part, headers)];
    expect([outcome(first), outcome(again), again.body]).toEqual([
      [200, undefined, undefined],
      [200, undefined, 'true'],
      first.body,
    ]);
    expect(outcome(await edge.send('POST', path, `${part}x`, headers))).toEqual([409, 'KEY_REUSED', undefined]);
  });
});

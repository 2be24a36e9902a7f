import 'reflect-metadata';
import { DomainError } from '@headgate/domain-contracts';
import { MemoryBackend } from '@headgate/testing';
import { Edge, type Reply } from '../testing/edge.js';
import { holdMethod } from '../testing/hold-method.js';

const WEB = '/api/ext/vms/default/web';
const DB = '/api/ext/vms/default/db';
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };

interface Entry {
  readonly name: string;
  readonly cpu: number;
  readonly mem: string;
  readonly tags: readonly string[];
  readonly protected: boolean;
}

describe('PATCH /api/ext/vms/{ns}/{name}', () => {
  let edge: Edge;
  beforeEach(async () => void (edge = await new Edge(new MemoryBackend('lab', { nodeCount: 1 })).open()));
  afterEach(() => edge.close());

  const patch = (path: string, body?: unknown, headers: Record<string, string> = MERGE_PATCH): Promise<Reply> =>
    edge.send('PATCH', path, body, headers);
  const entry = async (name: string, list = '/api/vms'): Promise<Entry> => {
    const { json } = await edge.send('GET', list);
    return (json as unknown as Entry[]).find((one) => one.name === name)!;
  };
  const fail = (target: object, method: string, error: DomainError): void => {
    (target as Record<string, unknown>)[method] = () => Promise.reject(error);
  };

  test('changes the size, tags, protection and autostart together', async () => {
    const { status, json } = await patch(WEB, {
      cpu: 3,
      mem: '1Gi',
      tags: ['prod', 'blue'],
      protected: true,
      autostart: true,
    });
    expect([status, json]).toEqual([
      200,
      { status: 'ok', changed: ['size', 'autostart', 'protected', 'tags'], effect: 'next-start', pending: [] },
    ]);
    expect(await entry('web')).toMatchObject({ cpu: 3, mem: '1Gi', tags: ['blue', 'prod'], protected: true });
    const hardware = await edge.send('GET', `${WEB}/hardware`);
    expect(hardware.json).toMatchObject({ cpu: 3, autostart: true });
    expect((await edge.send('DELETE', '/api/vms/default/web')).json.code).toBe('WRONG_STATE');
  });

  test('accepts application/json as well, and a merge patch for nothing else', async () => {
    expect((await patch(WEB, { cpu: 3 }, { 'content-type': 'application/json' })).status).toBe(200);
    expect(
      (await patch(WEB, { cpu: 4 }, { 'content-type': `${MERGE_PATCH['content-type']}; charset=utf-8` })).status,
    ).toBe(200);
    expect((await edge.send('POST', '/api/vms/default/web/scale', { cpu: 5 }, MERGE_PATCH)).status).toBe(415);
    expect((await patch(WEB, 'cpu=5', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await entry('web')).cpu).toBe(4);
  });

  test('changes nothing and says so when everything is as declared, or nothing is declared', async () => {
    await patch(WEB, { tags: ['prod'], protected: true, cpu: 3 });
    for (const body of [{}, undefined, { tags: ['prod'], protected: true, cpu: 3 }])
      expect((await patch(WEB, body)).json).toMatchObject({ status: 'ok', changed: [] });
  });

  test('replaces all tags, and adds and removes single ones as labels', async () => {
    await patch(WEB, { tags: ['a', 'b'] });
    await patch(WEB, { tags: ['b', 'c'] });
    expect((await entry('web')).tags).toEqual(['b', 'c']);
    await patch(WEB, { labels: { 'svc.dev/tag.d': 'true', 'svc.dev/tag.e': true, 'svc.dev/tag.b': null } });
    expect((await entry('web')).tags).toEqual(['c', 'd', 'e']);
    expect((await patch(WEB, { labels: { 'svc.dev/tag.none': null } })).json).toMatchObject({ changed: [] });
  });

  test('removes with null what can be removed', async () => {
    await patch(WEB, { tags: ['a'], protected: true, autostart: true });
    const { json } = await patch(WEB, { tags: null, protected: null, autostart: null });
    expect(json).toMatchObject({ changed: ['autostart', 'protected', 'tags'] });
    expect(await entry('web')).toMatchObject({ tags: [], protected: false });
    await patch(WEB, { tags: ['a'] });
    await patch(WEB, { labels: null });
    expect((await entry('web')).tags).toEqual([]);
  });

  test.each([
    [
      'an unknown field',
      { shade: 'red' },
      /^shade is not a known field\. A patch of it accepts cpu, mem, tags, labels, protected, autostart\.$/,
    ],
    [
      'a field that is not patchable',
      { name: 'db', node: 'n1' },
      /name is not a known field.*node is not a known field.*accepts cpu/,
    ],
    ['a field of every object', { toString: 1 }, /toString is not a known field.*accepts cpu/],
    ['no CPUs', { cpu: null }, /^cpu must/],
    ['no memory', { mem: null }, /^mem must/],
    [
      'a label of another program',
      { labels: { 'app.example/tier': 'web' } },
      /^labels must be an object of at most 100 labels svc\.dev\/tag\.NAME/,
    ],
    ['another value of a label', { labels: { 'svc.dev/tag.a': 'no' } }, /^labels must/],
    ['labels that are no object', { labels: ['a'] }, /^labels must/],
    ['an odd tag', { tags: ['a b'] }, /tags must/],
    ['tags twice', { tags: ['a'], labels: {} }, /^Set tags or labels, not both/],
    ['an array', [1], /must be a JSON object/],
  ])('refuses %s', async (_what, body, message) => {
    const { status, json } = await patch(WEB, body);
    expect([status, json.error]).toEqual([400, expect.stringMatching(message)]);
    expect(await entry('web')).toMatchObject({ cpu: 2, tags: [], protected: false });
  });

  test('shows all steps and refusals in a dry run, and changes nothing', async () => {
    const { json } = await patch(`${WEB}?dryRun=true`, { cpu: 4, tags: ['a'], protected: true });
    const { steps, refusals } = json as unknown as { steps: { name: string }[]; refusals: { code: string }[] };
    expect(steps.map(({ name }) => name)).toEqual(expect.arrayContaining(['protect from deletion', 'add tag a']));
    expect(refusals).toEqual(expect.any(Array));
    expect(await entry('web')).toMatchObject({ cpu: 2, tags: [], protected: false });
  });

  test('changes nothing when one part is refused, and lists every refusal', async () => {
    const hardware = edge.lab.require('hardware');
    const refusal = { code: 'INVALID_INPUT', reason: 'cpu: too many.', remedy: 'Use fewer.' };
    Object.assign(hardware, { plan: async () => ({ steps: [], warnings: [], refusals: [refusal], effect: 'now' }) });
    const body = { cpu: 4, autostart: true, tags: ['a'], protected: true };
    const { status, json } = await patch(WEB, body);
    expect([status, json['details']]).toEqual([400, { refusals: [refusal, refusal] }]);
    expect(await entry('web')).toMatchObject({ tags: [], protected: false });
    const plan = await patch(`${WEB}?dryRun=true`, body);
    expect([plan.status, plan.json['refusals']]).toEqual([200, [refusal, refusal]]);
  });

  test('names the parts that were carried out when a later one fails', async () => {
    fail(edge.lab.require('provisioning'), 'setTag', new DomainError('BACKEND_TIMEOUT', 'lab did not answer in time.'));
    const { status, json } = await patch(WEB, { cpu: 3, protected: true, tags: ['a', 'b'] });
    expect(status).toBe(504);
    expect(json.error).toMatch(
      /^lab did not answer in time\. Carried out before it: .*; protect from deletion\. Nothing after it was begun\.$/,
    );
    expect((json['details'] as { applied: string[] }).applied).toHaveLength(2);
    expect(await entry('web')).toMatchObject({ cpu: 3, tags: [], protected: true });
  });

  test('has one reservation for all parts, for which other changes wait', async () => {
    const held = holdMethod(edge.lab.require('provisioning'), 'setTag');
    const patched = patch(WEB, { cpu: 3, tags: ['a'] });
    await held.begun;
    const { json } = await edge.send('POST', '/api/vms/default/web/start?dryRun=true');
    expect(JSON.stringify(json)).toContain('a change of its settings');
    const started = edge.send('POST', '/api/vms/default/web/start');
    held.end();
    expect([(await patched).status, (await started).status]).toEqual([200, 200]);
  });

  test('is recorded part by part, with its caller', async () => {
    await patch(WEB, { protected: true, tags: ['a'] });
    const { json } = await edge.send('GET', '/api/ext/journal');
    expect((json as unknown as { action: string; ref: string; route: string }[]).slice(0, 2)).toMatchObject([
      { action: 'add tag a', ref: 'vm/lab/default/web', route: 'PATCH /api/ext/vms/:ns/:name' },
      { action: 'protect from deletion' },
    ]);
  });

  test('does not restart a running VM with restart=false', async () => {
    const { status, json } = await patch(`${DB}?restart=false`, { cpu: 3 });
    expect([status, json['effect'] === 'restart']).toEqual([200, false]);
    expect((await entry('db')) as unknown).toMatchObject({ status: 'Running' });
  });

  test('is carried out once under an idempotency key', async () => {
    const headers = { ...MERGE_PATCH, 'idempotency-key': 'k1' };
    await patch(WEB, { tags: ['a'] }, headers);
    await patch(WEB, { tags: [] });
    const again = await patch(WEB, { tags: ['a'] }, headers);
    expect([again.status, again.headers['idempotency-replayed'], (await entry('web')).tags]).toEqual([200, 'true', []]);
  });

  test('refuses an instance that does not exist, and one whose name is ambiguous', async () => {
    expect((await patch('/api/ext/vms/default/none', { cpu: 3 })).json.code).toBe('INSTANCE_NOT_FOUND');
    expect((await patch('/api/ext/vms/default/twin', { cpu: 3 })).json.code).toBe('AMBIGUOUS_INSTANCE');
    expect((await patch('/api/ext/vms/default/twin?context=lab', { cpu: 3 })).status).toBe(200);
  });

  test('changes the tags of a container, and nothing else', async () => {
    const box = '/api/ext/cts/default/box';
    expect((await patch(box, { tags: ['a'] })).json).toMatchObject({ changed: ['tags'], effect: 'now' });
    await patch(box, { labels: { 'svc.dev/tag.b': 'true' } });
    expect((await entry('box', '/api/cts')).tags).toEqual(['a', 'b']);
    const { status, json } = await patch(box, { cpu: 3 });
    expect([status, json.error]).toEqual([400, 'cpu is not a known field. A patch of it accepts tags, labels.']);
  });
});

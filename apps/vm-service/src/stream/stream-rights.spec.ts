import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADMINISTRATOR, formatRef, parseRef, TaskRunner } from '@headgate/domain-contracts';
import { Edge } from '../testing/edge.js';
import { STEADY_READING } from '../testing/steady-reading.js';
import { StreamReader } from '../testing/stream-reader.js';

const ann = { 'tailscale-user-login': 'ann' };
const vera = { 'tailscale-user-login': 'vera' };
const bob = { 'tailscale-user-login': 'bob' };
const DB = 'vm/lab/default/db';
const WEB = 'vm/lab/default/web';
const ROUTES: Readonly<Record<string, string>> = {
  health: '/api/doctor',
  contexts: '/api/capabilities',
  activity: '/api/ext/journal/activity',
};
const CONFIG = `
admins: [ann]
roles:
  - { login: vera, folder: prod, role: viewer }
`;

interface Entry {
  readonly ref: string;
}

describe('GET /api/ext/stream', () => {
  let edge: Edge;
  let readers: StreamReader[];

  beforeEach(async () => {
    readers = [];
    edge = new Edge();
    for (const name of ['db', 'web'])
      edge.lab.engine.readings.set(
        formatRef({ kind: 'vm', context: 'lab', namespace: 'default', name }),
        STEADY_READING,
      );
    const file = join(edge.folder, 'roles.yaml');
    writeFileSync(file, CONFIG);
    await edge.open({}, ['--config', file]);
    await edge.send('POST', '/api/folders', { path: 'prod' }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: DB }, ann);
    await edge.send('POST', '/api/vms/default/web/start', {}, ann);
  });

  afterEach(async () => {
    for (const reader of readers) reader.close();
    await edge.close();
  });

  const open = async (headers: Record<string, string>, query = ''): Promise<StreamReader> => {
    const reader = await StreamReader.open(`http://${edge.base}/api/ext/stream${query}`, headers);
    readers.push(reader);
    return reader;
  };
  const token = async (scope: object): Promise<{ id: string; headers: Record<string, string> }> => {
    const body = { name: 'ci', actions: ['read'], scope };
    const { json } = await edge.send('POST', '/api/ext/tokens', body, ann);
    return { id: String(json['id']), headers: { authorization: `Bearer ${String(json['token'])}` } };
  };
  /** A task about `web`. @returns its ID */
  const startTask = (): Promise<string> => {
    const caller = { login: 'ann', name: '', grant: ADMINISTRATOR };
    const ref = parseRef(WEB);
    return edge.service.app.get(TaskRunner).start('create', ref, caller, async () => undefined);
  };
  const answerOf = async (path: string, headers: Record<string, string>): Promise<unknown> =>
    (await edge.send('GET', path, undefined, headers)).json;

  test.each([
    ['a viewer of a folder', async () => vera, ['vms', 'cts', 'usage', 'tasks', 'folders', 'contexts']],
    ['a caller without any role', async () => bob, ['vms', 'cts', 'usage', 'tasks', 'folders']],
    [
      'a token for a folder',
      async () => (await token({ folder: 'prod' })).headers,
      ['vms', 'cts', 'usage', 'tasks', 'folders'],
    ],
    [
      'an administrator',
      async () => ann,
      ['vms', 'cts', 'usage', 'tasks', 'folders', 'contexts', 'health', 'activity'],
    ],
  ])('shows %s what the routes answer, and no other topic', async (_title, callerOf, topics) => {
    const caller = await callerOf();
    const stream = await open(caller);
    await stream.next('ready');
    if (topics.includes('contexts')) await stream.next('contexts.snapshot');
    for (const topic of ['health', 'activity']) if (topics.includes(topic)) await stream.next(`${topic}.snapshot`);
    for (const [topic, path] of [
      ['vms', '/api/vms'],
      ['cts', '/api/cts'],
      ['tasks', '/api/tasks'],
      ['folders', '/api/folders?summary=true'],
    ] as const)
      expect((await stream.next<unknown>(`${topic}.snapshot`)).data).toEqual(await answerOf(path, caller));
    const seen = new Set(stream.names().map((name) => name.split('.')[0] ?? ''));
    expect([...seen].filter((name) => name !== 'ready').sort()).toEqual([...topics].sort());
  });

  test.each([
    ['a viewer', async () => vera, 'health'],
    ['a viewer', async () => vera, 'activity'],
    ['a caller without any role', async () => bob, 'contexts'],
    ['a token for a folder', async () => (await token({ folder: 'prod' })).headers, 'contexts'],
    ['a token for a folder', async () => (await token({ folder: 'prod' })).headers, 'health'],
  ])('refuses %s the topic %s, as its route does', async (_title, callerOf, topic) => {
    const headers = { ...(await callerOf()), accept: 'text/event-stream' };
    const { status, json } = await edge.send('GET', `/api/ext/stream?topics=vms,${topic}`, undefined, headers);
    expect([status, json.code]).toEqual([403, 'NOT_PERMITTED']);
    const path = ROUTES[topic] ?? '';
    expect((await edge.send('GET', path, undefined, headers)).json.error).toBe(json.error);
  });

  test('sends a viewer the changes and the usage of their instances only', async () => {
    const stream = await open(vera);
    await stream.next('ready');
    await edge.send('POST', '/api/vms/default/web/tags', { tag: 'hidden', on: true }, ann);
    await edge.send('POST', '/api/vms/default/db/tags', { tag: 'seen', on: true }, ann);
    await stream.next<{ tags: string[] }>('vms.changed', ({ tags }) => tags.includes('seen'));
    const { data } = await stream.next<{ usages: Entry[] }>('usage.changed', ({ usages }) => usages.length > 0);
    expect(data.usages.map(({ ref }) => ref)).toEqual([DB]);
    expect(JSON.stringify(stream.events)).not.toContain(WEB);
  });

  test('follows an instance and its tasks into a folder and out of it', async () => {
    const id = await startTask();
    const stream = await open(vera);
    await stream.next('ready');
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: WEB }, ann);
    await stream.next<Entry>('vms.changed', ({ ref }) => ref === WEB);
    await stream.next('tasks.changed', (task) => task['id'] === id);
    await edge.send('DELETE', `/api/folders/members?ref=${WEB}`, undefined, ann);
    await stream.next<Entry>('vms.removed', ({ ref }) => ref === WEB);
    await stream.next('tasks.removed', (task) => task['id'] === id);
  });

  test('takes the members of a folder away when it gets another path', async () => {
    const stream = await open(vera);
    await stream.next('ready');
    await edge.send('POST', '/api/folders/move', { from: 'prod', to: 'secret' }, ann);
    await stream.next<Entry>('vms.removed', ({ ref }) => ref === DB);
    await stream.next<{ folders: object[] }>('folders.snapshot', ({ folders }) => folders.length === 0);
    expect(JSON.stringify(stream.events)).not.toContain('secret');
  });

  test('ends when the token of its caller is revoked, with rights on everything and on a folder', async () => {
    for (const scope of [{}, { folder: 'prod' }]) {
      const { id, headers } = await token(scope);
      const stream = await open(headers);
      await stream.next('ready');
      await edge.send('DELETE', `/api/ext/tokens/${id}`, undefined, ann);
      await stream.ended();
      const again = await edge.send('GET', '/api/ext/stream', undefined, { ...headers, accept: 'text/event-stream' });
      expect(again.status).toBe(403);
    }
  });

  test('gives a position to those only who share a feed, and takes none from the others', async () => {
    const shared = await open(ann, '?topics=vms');
    const { id = '' } = await shared.next('ready');
    expect(id).not.toBe('');
    const own = await open({ ...vera, 'last-event-id': id }, '?topics=vms');
    await own.next<Entry[]>('vms.snapshot', (entries) => entries.every(({ ref }) => ref === DB));
    expect((await own.next('ready')).id).toBeUndefined();
    expect(own.names()).not.toContain('resumed');
  });

  test('refuses a limited caller more than 50 streams, of whichever kind, and no other caller', async () => {
    for (let count = 0; count < 50; count++) {
      const path = count % 2 === 0 ? '/api/ext/stream?topics=tasks' : '/api/vms';
      readers.push(await StreamReader.open(`http://${edge.base}${path}`, vera));
    }
    for (const path of ['/api/ext/stream', '/api/vms', '/api/cts']) {
      const { status, json } = await edge.send('GET', path, undefined, { ...vera, accept: 'text/event-stream' });
      expect([path, status, json.code]).toEqual([path, 429, 'TOO_MANY_STREAMS']);
    }
    await (await open(ann, '?topics=vms')).next('ready');
    readers[0]?.close();
    // The service sees the end of the connection a moment later.
    let status = 0;
    while (status !== 200) ({ status } = await open(vera, '?topics=vms'));
  });
});

import 'reflect-metadata';
import type { ActivityView } from '@headgate/api-contracts';
import { formatRef } from '@headgate/domain-contracts';
import { unreachable, Edge } from '../testing/edge.js';
import { STEADY_READING } from '../testing/steady-reading.js';
import { StreamReader } from '../testing/stream-reader.js';

const DB = { kind: 'vm', context: 'lab', namespace: 'default', name: 'db' } as const;
const ALL = ['vms', 'cts', 'usage', 'tasks', 'folders', 'contexts', 'health', 'activity'];

interface Entry {
  readonly ref: string;
  readonly status?: string;
}

describe('GET /api/ext/stream', () => {
  let edge: Edge;
  let readers: StreamReader[];

  beforeEach(async () => {
    readers = [];
    edge = new Edge();
    edge.lab.engine.readings.set(formatRef(DB), STEADY_READING);
    await edge.open();
  });

  afterEach(async () => {
    for (const reader of readers) reader.close();
    await edge.close();
  });

  const open = async (query = '', headers: Record<string, string> = {}): Promise<StreamReader> => {
    const reader = await StreamReader.open(`http://${edge.base}/api/ext/stream${query}`, headers);
    readers.push(reader);
    return reader;
  };

  test('sends a snapshot of each topic, as its route answers', async () => {
    const stream = await open();
    await stream.next('ready');
    for (const topic of ['contexts', 'health']) await stream.next(`${topic}.snapshot`);
    const dataOf = async (name: string) => (await stream.next<unknown>(`${name}.snapshot`)).data;
    const answerOf = async (path: string) => (await edge.send('GET', path)).json as unknown;
    expect(await dataOf('vms')).toEqual(await answerOf('/api/vms'));
    expect(await dataOf('cts')).toEqual(await answerOf('/api/cts'));
    expect(await dataOf('tasks')).toEqual(await answerOf('/api/tasks'));
    expect(await dataOf('folders')).toEqual(await answerOf('/api/folders?summary=true'));
    expect(await dataOf('contexts')).toEqual(await answerOf('/api/capabilities'));
    const checks = (await answerOf('/api/doctor')) as { status: string }[];
    const health = (await dataOf('health')) as Record<string, number>;
    expect(Object.values(health).reduce((sum, count) => sum + count)).toBe(checks.length);
    expect((await stream.next('contexts.status', ({ context }) => context === 'other')).data).toEqual({
      context: 'other',
      backend: 'memory',
      up: true,
    });
  });

  test('sends the number of actions after each entry of the journal', async () => {
    const stream = await open('?topics=activity');
    const users = ({ counts }: ActivityView): number => counts.reduce((sum, count) => sum + count.users, 0);
    expect(users((await stream.next<ActivityView>('activity.snapshot')).data)).toBe(0);
    await edge.send('POST', '/api/vms/default/web/start');
    const { data } = await stream.next<ActivityView>('activity.snapshot', (activity) => users(activity) === 1);
    expect(data).toEqual((await edge.send('GET', '/api/ext/journal/activity')).json);
  });

  test('sends the changes of instances, tasks, folders, and contexts', async () => {
    const stream = await open('?topics=vms,tasks,folders,contexts');
    await stream.next('ready');
    await edge.send('POST', '/api/vms/default/web/start');
    await stream.next<Entry>('vms.changed', ({ ref, status }) => ref.endsWith('/web') && status === 'Running');
    await edge.send('POST', '/api/folders', { path: 'prod/web' });
    await stream.next<{ folders: { path: string }[] }>('folders.snapshot', ({ folders }) =>
      folders.some(({ path }) => path === 'prod/web'),
    );
    const { json } = await edge.send('POST', '/api/ext/bulk', { action: 'stop', refs: [formatRef(DB)] });
    await stream.next('tasks.changed', ({ id, status }) => id === json['task'] && status === 'done');
    const ended = await edge.send('GET', `/api/tasks/${String(json['task'])}`);
    const { data } = await stream.next('tasks.changed', ({ status }) => status === 'done');
    expect(data).toMatchObject({ log: '', startedAt: ended.json['startedAt'], bulk: ended.json['bulk'] });
    expect(data).not.toHaveProperty('members');
    await edge.send('DELETE', '/api/vms/default/web');
    await stream.next('vms.removed', ({ ref }) => ref === 'vm/lab/default/web');
    edge.lab.engine.disconnect(unreachable);
    await stream.next('contexts.status', ({ context, up }) => context === 'lab' && up === false);
    await stream.next<{ contexts: { context: string; up: boolean }[] }>('contexts.snapshot', ({ contexts }) =>
      contexts.some(({ context, up }) => context === 'lab' && !up),
    );
    expect(stream.names().filter((name) => /^(cts|usage|health)\./.test(name))).toEqual([]);
  });

  test('sends the usage of all measured instances of a context after each reading', async () => {
    const stream = await open('?topics=usage');
    await stream.next('ready');
    const usage = expect.objectContaining({ cpu: 250 }) as unknown;
    const { data } = await stream.next<{ context: string; usages: Entry[] }>('usage.changed', ({ usages }) =>
      usages.some(({ ref }) => ref === formatRef(DB)),
    );
    expect(data.context).toBe('lab');
    expect(data.usages).toContainEqual({ ref: formatRef(DB), usage });
    const later = await open('?topics=usage');
    expect((await later.next<Entry[]>('usage.snapshot')).data).toContainEqual({ ref: formatRef(DB), usage });
  });

  test.each([
    [
      'an unknown topic',
      '?topics=vms,logs',
      '"logs" is no topic; the topics are vms, cts, usage, tasks, folders, contexts, health, activity.',
    ],
    ['no topic', '?topics=', '"" is no topic'],
    ['an empty topic', '?topics=vms,,cts', '"" is no topic'],
    ['a long list', `?topics=${'x'.repeat(300)}`, 'topics'],
    ['a long position', `?lastEventId=${'x'.repeat(300)}`, 'lastEventId'],
  ])('refuses %s with one sentence', async (_title, query, message) => {
    const { status, json } = await edge.send('GET', `/api/ext/stream${query}`, undefined, {
      accept: 'text/event-stream',
    });
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(json.error).toContain(message);
  });

  test('refuses a client that does not ask for an event stream, which would wait for its end', async () => {
    const { status, json } = await edge.send('GET', '/api/ext/stream');
    expect([status, json.error]).toEqual([400, expect.stringContaining('text/event-stream')]);
  });

  describe('continues', () => {
    const idAfter = async (query: string): Promise<string> => {
      const stream = await open(query);
      const { id = '' } = await stream.next('ready');
      stream.close();
      return id;
    };

    test('after Last-Event-ID without a snapshot, with all changes since then', async () => {
      const id = await idAfter('?topics=vms,tasks,contexts');
      await edge.send('POST', '/api/vms/default/web/start');
      const stream = await open('?topics=vms,tasks,contexts', { 'last-event-id': id });
      const change = await stream.next<Entry>('vms.changed', ({ status }) => status === 'Running');
      expect(stream.names()[0]).toBe('resumed');
      expect(stream.names()).not.toContain('vms.snapshot');
      expect(stream.names()).not.toContain('tasks.snapshot');
      expect(change.data.ref).toBe('vm/lab/default/web');
    });

    test('with fewer topics, and not with more', async () => {
      const id = await idAfter('?topics=vms,tasks');
      const fewer = await open(`?topics=vms&lastEventId=${id}`);
      await fewer.next('resumed');
      const more = await open(`?topics=vms,tasks,cts&lastEventId=${id}`);
      await more.next('cts.snapshot');
      expect(more.names()).not.toContain('resumed');
    });

    test('with the state of a context that changed while no client was there', async () => {
      const id = await idAfter('?topics=vms,contexts,folders');
      edge.lab.engine.disconnect(unreachable);
      await edge.send('POST', '/api/folders', { path: 'prod' });
      const stream = await open(`?topics=vms,contexts,folders&lastEventId=${id}`);
      await stream.next('resumed');
      await stream.next('contexts.status', ({ context, up }) => context === 'lab' && up === false);
      await stream.next<{ folders: { path: string }[] }>('folders.snapshot', ({ folders }) => folders.length === 1);
    });

    test.each(['nonsense', 'AAAAAAAA-1-0', '-'])('not after the unknown position %s', async (id) => {
      const stream = await open(`?topics=vms&lastEventId=${id}`);
      await stream.next('vms.snapshot');
      expect(stream.names()).not.toContain('resumed');
    });

    test('not in another process: a replica that was restarted sends snapshots', async () => {
      const id = await idAfter('?topics=vms');
      await edge.reopen();
      const stream = await open(`?topics=vms&lastEventId=${id}`);
      await stream.next('vms.snapshot');
    });
  });

  test('has all topics without the parameter, and stays open while no context is reachable', async () => {
    edge.lab.engine.disconnect(unreachable);
    edge.other.engine.disconnect(unreachable);
    const stream = await open();
    await stream.next('ready');
    const known = stream.names().map((name) => name.split('.')[0]);
    expect(ALL.filter((topic) => known.includes(topic))).toEqual(expect.arrayContaining(['vms', 'cts', 'tasks']));
    edge.lab.engine.reconnect();
    await stream.next('contexts.status', ({ context, up }) => context === 'lab' && up === true);
    await stream.next('contexts.snapshot');
    await stream.next('folders.snapshot');
  });

  test('ends with the service', async () => {
    const stream = await open();
    await stream.next('ready');
    await edge.service.close();
    await stream.ended();
    await edge.open();
  });
});

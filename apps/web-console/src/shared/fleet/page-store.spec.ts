import type { StreamUsageView, TaskView, UsageView } from '@headgate/api-contracts';
import type { QueryClient } from '@tanstack/react-query';
import { buildCapabilities } from '../../testing/build-capabilities.js';
import { buildTask } from '../../testing/build-task.js';
import { buildVm } from '../../testing/build-vm.js';
import { createQueryClient } from '../queries/query-client.js';
import { CONTEXT_KEYS, STREAMED_KEYS, StreamQueries, usageKey } from '../queries/stream-queries.js';
import { PageStore, type PageState } from './page-store.js';

const usage = (cpu: number): UsageView => ({ cpu }) as unknown as UsageView;

describe('PageStore', () => {
  let queries: QueryClient;
  let page: PageStore;

  beforeEach(() => {
    queries = createQueryClient();
    page = new PageStore(new StreamQueries(queries));
  });
  afterEach(() => queries.clear());

  const tasks = (): string[] =>
    (queries.getQueryData<TaskView[]>(STREAMED_KEYS.tasks) ?? []).map(({ id, status }) => `${id} ${status}`);
  const usages = (list: 'vms' | 'cts'): StreamUsageView[] => queries.getQueryData(usageKey(list)) ?? [];

  test('has the tasks in their order, each with its last change', () => {
    page.receive('tasks.snapshot', [buildTask({ id: '2' }), buildTask({ id: '1', status: 'done' })]);
    page.receive('tasks.changed', buildTask({ id: '2', status: 'error' }));
    page.receive('tasks.changed', buildTask({ id: '3' }));
    expect(tasks()).toEqual(['3 running', '2 error', '1 done']);
    page.receive('tasks.removed', { id: '2' });
    expect(tasks()).toEqual(['3 running', '1 done']);
  });

  test('asks for the members of a task again when it has changed', () => {
    const key = [...STREAMED_KEYS.tasks, '2'];
    queries.setQueryData(key, buildTask({ id: '2' }));
    page.receive('tasks.snapshot', [buildTask({ id: '2' })]);
    expect(queries.getQueryState(key)?.isInvalidated).toBe(false);
    page.receive('tasks.changed', buildTask({ id: '2', status: 'done' }));
    expect(queries.getQueryState(key)?.isInvalidated).toBe(true);
  });

  test('drops the answer to a request that was sent before a change', async () => {
    let answer = (_tasks: TaskView[]): void => undefined;
    const queryFn = () => new Promise<TaskView[]>((resolve) => (answer = resolve));
    const request = queries.fetchQuery({ queryKey: STREAMED_KEYS.tasks, queryFn });
    page.receive('tasks.snapshot', [buildTask({ id: '2' })]);
    answer([buildTask({ id: '1' })]);
    await request.catch(() => undefined);
    expect(tasks()).toEqual(['2 running']);
  });

  test('replaces the usages of one context, of VMs and containers', () => {
    page.receive('usage.snapshot', [
      { ref: 'vm/a%2Fb/default/web', usage: usage(1) },
      { ref: 'vm/prod/default/db', usage: usage(1) },
      { ref: 'ct/prod/default/shell', usage: usage(1) },
    ]);
    page.receive('usage.changed', { context: 'prod', usages: [{ ref: 'ct/prod/default/shell', usage: usage(2) }] });
    expect(usages('vms')).toEqual([{ ref: 'vm/a%2Fb/default/web', usage: usage(1) }]);
    expect(usages('cts')).toEqual([{ ref: 'ct/prod/default/shell', usage: usage(2) }]);
    page.receive('usage.changed', { context: 'a/b', usages: [] });
    expect(usages('vms')).toEqual([]);
  });

  test('asks for nodes and images again when the capabilities differ, but not with their first or same ones', () => {
    const isInvalidated = () => Object.values(CONTEXT_KEYS).map((key) => queries.getQueryState(key)?.isInvalidated);
    for (const key of Object.values(CONTEXT_KEYS)) queries.setQueryData(key, []);
    page.receive('contexts.snapshot', buildCapabilities());
    page.receive('contexts.snapshot', buildCapabilities());
    expect(isInvalidated()).toEqual(Object.keys(CONTEXT_KEYS).map(() => false));
    page.receive('contexts.snapshot', { ...buildCapabilities(), contexts: [] });
    expect(isInvalidated()).toEqual(Object.keys(CONTEXT_KEYS).map(() => true));
  });

  test('asks who the user is after the service was lost', () => {
    const isInvalidated = () => queries.getQueryState(['whoami'])?.isInvalidated;
    queries.setQueryData(['whoami'], {});
    page.receive('ready', {});
    expect(isInvalidated()).toBe(false);
    page.lost('vms', 'gone', 1);
    page.receive('resumed', {});
    expect(isInvalidated()).toBe(true);
  });

  test('passes everything to another tab', () => {
    page.receive('vms.snapshot', [buildVm({ name: 'web' })]);
    page.receive('contexts.status', { context: 'prod', backend: 'kubevirt', up: false, reason: 'gone' });
    page.receive('tasks.snapshot', [buildTask({ id: '2' })]);
    page.receive('health.snapshot', { ok: 1, warning: 0, error: 2 });
    page.receive('ready', {});
    page.mark('boot-1');
    const others = createQueryClient();
    const other = new PageStore(new StreamQueries(others));
    other.restore(JSON.parse(JSON.stringify(page.state())) as PageState);
    expect(other.lists.vms.current()).toMatchObject({
      phase: 'live',
      contexts: { prod: { up: false, reason: 'gone' } },
    });
    expect(other.lists.vms.current().entries).toEqual(page.lists.vms.current().entries);
    expect(others.getQueryData(STREAMED_KEYS.health)).toEqual({ ok: 1, warning: 0, error: 2 });
    expect(others.getQueryData(STREAMED_KEYS.tasks)).toEqual(queries.getQueryData(STREAMED_KEYS.tasks));
    expect(other.position()).toBe('boot-1');
    others.clear();
  });
});

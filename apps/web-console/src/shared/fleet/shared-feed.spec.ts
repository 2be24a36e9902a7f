import { jest } from '@jest/globals';
import type { TaskView } from '@headgate/api-contracts';
import { buildTask } from '../../testing/build-task.js';
import { buildVm } from '../../testing/build-vm.js';
import { FakeChannel, FakeLocks } from '../../testing/fake-tabs.js';
import { MockService } from '../../testing/mock-service.js';
import { createQueryClient } from '../queries/query-client.js';
import { STREAMED_KEYS, StreamQueries } from '../queries/stream-queries.js';
import { PageStore } from './page-store.js';
import { SharedFeed } from './shared-feed.js';

const web = buildVm({ name: 'web' });
const db = buildVm({ name: 'db' });

describe('SharedFeed', () => {
  let service: MockService;
  const tabs: SharedFeed[] = [];

  beforeEach(() => {
    jest.useFakeTimers();
    service = new MockService();
    service.on('GET /api/vms', []).on('GET /api/cts', []).install();
    Object.defineProperty(navigator, 'locks', { configurable: true, value: new FakeLocks() });
    Object.assign(globalThis, { BroadcastChannel: FakeChannel });
  });

  afterEach(() => {
    for (const tab of tabs.splice(0)) tab.stop();
    hide(false);
    Object.defineProperty(navigator, 'locks', { configurable: true, value: undefined });
    jest.useRealTimers();
    expect(service.refused).toEqual([]);
  });

  const settle = () => jest.advanceTimersByTimeAsync(200);
  const openTab = async () => {
    const queries = createQueryClient();
    const page = new PageStore(new StreamQueries(queries));
    const store = page.lists.vms;
    const feed = new SharedFeed(page);
    tabs.push(feed);
    feed.start();
    await settle();
    const tasks = () => queries.getQueryData<TaskView[]>(STREAMED_KEYS.tasks)?.map(({ id }) => id);
    return { feed, tasks, names: () => store.current().entries.map(({ name }) => name), state: () => store.current() };
  };
  const hide = (hidden: boolean): void => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
    document.dispatchEvent(new Event('visibilitychange'));
  };

  test('opens one stream for several tabs, and each tab gets every change', async () => {
    const first = await openTab();
    const second = await openTab();
    service.stream.snapshot([web]);
    service.stream.emit('changed', db);
    service.pageStream.emit('contexts.status', { context: 'prod', up: false, reason: 'gone' });
    await settle();
    for (const tab of [first, second]) {
      expect(tab.names()).toEqual(['db', 'web']);
      expect(tab.state()).toMatchObject({ phase: 'live', contexts: { prod: { up: false } } });
    }
    service.stream.emit('removed', { ref: web.ref });
    await settle();
    expect(second.names()).toEqual(['db']);
    expect(service.streams).toHaveLength(1);
  });

  test('gives the current list to a tab that opens later', async () => {
    await openTab();
    service.stream.snapshot([web, db]);
    const later = await openTab();
    expect(later.names()).toEqual(['db', 'web']);
    expect(later.state().phase).toBe('live');
    expect(service.streams).toHaveLength(1);
  });

  test('gives everything to a tab that opens while the stream begins', async () => {
    const first = await openTab();
    service.pageStream.emit('vms.snapshot', [web, db]);
    const later = await openTab();
    service.pageStream.emit('cts.snapshot', []);
    service.pageStream.emit('tasks.snapshot', [buildTask({ id: '7' })]);
    await settle();
    expect(later.state().phase).toBe('loading');
    service.pageStream.emit('ready', {}, 'boot-1');
    await settle();
    for (const tab of [first, later]) {
      expect(tab.names()).toEqual(['db', 'web']);
      expect(tab.tasks()).toEqual(['7']);
      expect(tab.state().phase).toBe('live');
    }
    first.feed.stop();
    await settle();
    expect(service.pageStream.url).toBe('/api/ext/stream?lastEventId=boot-1');
  });

  test('gives everything to a tab whose leader closes before it has everything itself', async () => {
    const earlier = await openTab();
    service.stream.snapshot([web], 'boot-1');
    earlier.feed.stop();
    const leader = await openTab();
    earlier.feed.start();
    const waiting = await openTab();
    leader.feed.stop();
    await settle();
    // It continues where it was, so that no snapshot follows.
    expect(service.pageStream.url).toBe('/api/ext/stream?lastEventId=boot-1');
    service.pageStream.emit('resumed', {});
    await settle();
    expect(waiting.names()).toEqual(['web']);
    expect(waiting.state().phase).toBe('live');
  });

  test('continues in another tab when the tab with the stream closes', async () => {
    const first = await openTab();
    service.stream.snapshot([web]);
    const second = await openTab();
    first.feed.stop();
    await settle();
    expect(service.streams.map(({ closed }) => closed)).toEqual([true, false]);
    service.stream.snapshot([web, db]);
    expect(second.names()).toEqual(['db', 'web']);
  });

  test('continues in another tab at the position of the closed one, without a new snapshot', async () => {
    const first = await openTab();
    service.stream.snapshot([web], 'boot-1');
    const second = await openTab();
    service.stream.emit('changed', db, 'boot-2');
    first.feed.stop();
    await settle();
    expect(service.pageStream.url).toBe('/api/ext/stream?lastEventId=boot-2');
    service.pageStream.emit('contexts.status', { context: 'prod', up: true });
    service.stream.emit('removed', { ref: web.ref }, 'boot-3');
    await settle();
    expect(second.names()).toEqual(['db']);
    expect(second.state().phase).toBe('live');
  });

  test('reports a lost service in all tabs, and retries on request of any tab', async () => {
    service.fails('GET /api/vms', 503, 'No context is reachable.');
    await openTab();
    const second = await openTab();
    service.stream.snapshot([web]);
    service.stream.break();
    await settle();
    expect(second.state()).toMatchObject({ phase: 'lost', error: 'No context is reachable.' });
    second.feed.retryNow();
    await settle();
    expect(service.streams).toHaveLength(2);
    service.stream.snapshot([web]);
    expect(second.state().phase).toBe('live');
  });

  test('passes the stream on after a minute in a hidden tab, and takes part again when it is visible', async () => {
    const first = await openTab();
    const second = await openTab();
    service.stream.snapshot([web]);
    hide(true);
    await jest.advanceTimersByTimeAsync(30_000);
    service.pageStream.emit('beat', {});
    await jest.advanceTimersByTimeAsync(30_000);
    expect(service.streams).toHaveLength(2);
    hide(false);
    service.stream.snapshot([web, db]);
    await settle();
    expect(second.names()).toEqual(['db', 'web']);
    expect(first.names()).toEqual(['db', 'web']);
    expect(service.streams.filter(({ closed }) => !closed)).toHaveLength(1);
  });

  test('passes the stream on when the page is left, and takes part again when the browser shows it again', async () => {
    const first = await openTab();
    service.stream.snapshot([web]);
    dispatchEvent(new Event('pagehide'));
    const second = await openTab();
    service.stream.snapshot([web]);
    service.stream.emit('changed', db);
    await settle();
    expect([first.names(), second.names()]).toEqual([['web'], ['db', 'web']]);
    dispatchEvent(new Event('pageshow'));
    await settle();
    expect(first.names()).toEqual(['db', 'web']);
    expect(service.streams).toHaveLength(2);
    service.stream.emit('removed', { ref: web.ref });
    await settle();
    expect(first.names()).toEqual(['db']);
  });

  test('opens a stream per tab in browsers without locks, as on plain HTTP', async () => {
    Object.defineProperty(navigator, 'locks', { configurable: true, value: undefined });
    await openTab();
    await openTab();
    expect(service.streams).toHaveLength(2);
  });
});

import { jest } from '@jest/globals';
import type { VmView } from '@headgate/api-contracts';
import { buildVm } from '../../testing/build-vm.js';
import { MockService } from '../../testing/mock-service.js';
import { createQueryClient } from '../queries/query-client.js';
import { StreamQueries } from '../queries/stream-queries.js';
import type { FleetStore } from './fleet-store.js';
import { PageFeed } from './page-feed.js';
import { PageStore } from './page-store.js';

const web = buildVm({ name: 'web' });
const db = buildVm({ name: 'db' });

describe('PageFeed', () => {
  let service: MockService;
  let store: FleetStore<VmView>;
  let feed: PageFeed;

  beforeEach(() => {
    jest.useFakeTimers();
    service = new MockService();
    service.on('GET /api/vms', []).on('GET /api/cts', []).install();
    const page = new PageStore(new StreamQueries(createQueryClient()));
    store = page.lists.vms;
    feed = new PageFeed(page);
    feed.start();
  });

  afterEach(() => {
    feed.stop();
    jest.useRealTimers();
    expect(service.refused).toEqual([]);
  });

  const names = (): string[] => store.current().entries.map(({ name }) => name);
  const breakStream = async (): Promise<void> => {
    service.stream.break();
    await jest.advanceTimersByTimeAsync(0);
  };

  test('shows a lone change immediately, and those that follow it with one notification per burst', async () => {
    service.stream.snapshot([web]);
    expect(store.current()).toMatchObject({ phase: 'live', partial: false });
    let notified = 0;
    store.subscribe(() => notified++);
    service.stream.emit('changed', db);
    expect(names()).toEqual(['db', 'web']);
    service.stream.emit('changed', { ...web, status: 'Paused' });
    service.stream.emit('removed', { ref: db.ref });
    expect(names()).toEqual(['db', 'web']);
    await jest.advanceTimersByTimeAsync(100);
    expect(notified).toBe(2);
    expect(store.current().entries).toEqual([{ ...web, status: 'Paused' }]);
    await jest.advanceTimersByTimeAsync(200);
    service.stream.emit('changed', db);
    expect(names()).toEqual(['db', 'web']);
  });

  test('records the status of contexts, and which entries are the last known ones', async () => {
    service.stream.snapshot([web]);
    service.pageStream.emit('contexts.status', { context: 'prod', up: false, reason: 'gone' });
    service.stream.emit('changed', { ...web, stale: true });
    await jest.advanceTimersByTimeAsync(100);
    expect(store.current()).toMatchObject({ contexts: { prod: { up: false, reason: 'gone' } }, partial: true });
  });

  test('continues where the stream broke, without a new snapshot', async () => {
    service.fails('GET /api/vms', 503, 'It restarts.');
    service.stream.snapshot([web], 'boot-1');
    service.stream.emit('changed', { ...web, status: 'Paused' });
    service.stream.emit('changed', db, 'boot-3');
    await breakStream();
    expect(store.current().phase).toBe('lost');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(service.pageStream.url).toBe('/api/ext/stream?lastEventId=boot-3');
    service.pageStream.emit('resumed', {});
    expect(store.current()).toMatchObject({ phase: 'live', error: undefined });
    service.stream.emit('removed', { ref: web.ref }, 'boot-4');
    await jest.advanceTimersByTimeAsync(100);
    expect(names()).toEqual(['db']);
  });

  test('takes a snapshot instead, when the service no longer knows the position', async () => {
    service.on('GET /api/vms', [web]);
    service.stream.snapshot([web], 'boot-1');
    await breakStream();
    await jest.advanceTimersByTimeAsync(1_000);
    service.stream.snapshot([db], 'other-1');
    expect(names()).toEqual(['db']);
    service.stream.break();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(service.pageStream.url).toBe('/api/ext/stream?lastEventId=other-1');
  });

  test('fetches the list when the stream breaks, and reopens the stream', async () => {
    service.on('GET /api/vms', [web, db]);
    service.stream.snapshot([web]);
    await breakStream();
    expect(store.current().phase).toBe('polling');
    expect(names()).toEqual(['db', 'web']);
    expect(service.streams[0]?.closed).toBe(true);
    await jest.advanceTimersByTimeAsync(1_000);
    service.stream.snapshot([db]);
    expect(store.current()).toMatchObject({ phase: 'live', entries: [db] });
  });

  test('waits longer after each failure, up to 4 seconds, and keeps the error message of the service', async () => {
    service.fails('GET /api/vms', 503, 'No context can be reached.');
    const waits: number[] = [];
    for (let round = 0; round < 6; round++) {
      await breakStream();
      const opened = service.streams.length;
      let waited = 0;
      while (service.streams.length === opened) {
        await jest.advanceTimersByTimeAsync(500);
        waited += 500;
      }
      waits.push(waited);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 4_000, 4_000, 4_000]);
    expect(store.current()).toMatchObject({ phase: 'lost', error: 'No context can be reached.' });
  });

  test('keeps the last known entries when the service does not respond', async () => {
    service.stream.snapshot([web]);
    Object.assign(globalThis, { fetch: () => Promise.reject(new TypeError('Failed to fetch')) });
    await breakStream();
    expect(store.current()).toMatchObject({
      phase: 'lost',
      error: 'The service is unreachable. Check that it is running.',
    });
    expect(names()).toEqual(['web']);
  });

  test('polls every five seconds when streams fail, without a download while the list is unchanged', async () => {
    service.on('GET /api/vms', ({ headers }: { headers: Record<string, string> }) =>
      headers['if-none-match'] === '"1"' ? { status: 304 } : { body: [web], headers: { etag: '"1"' } },
    );
    await breakStream();
    await jest.advanceTimersByTimeAsync(1_000);
    await breakStream();
    await jest.advanceTimersByTimeAsync(4_999);
    expect(service.streams).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(1);
    expect(service.streams).toHaveLength(3);
    expect(service.asked('GET /api/cts')).toHaveLength(2);
    expect(service.asked('GET /api/vms').map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
    expect(store.current()).toMatchObject({ phase: 'polling', entries: [web] });
  });

  test('opens a silent stream again, because a dead connection looks open', async () => {
    service.stream.snapshot([web]);
    await jest.advanceTimersByTimeAsync(30_000);
    service.pageStream.emit('beat', {});
    await jest.advanceTimersByTimeAsync(30_000);
    expect(service.streams).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(12_000);
    expect(service.streams.map(({ closed }) => closed)).toEqual([true, false]);
  });

  test('sends nothing after it was closed', async () => {
    feed.stop();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(service.streams).toHaveLength(1);
    expect(service.requests).toEqual([]);
  });
});

import { jest } from '@jest/globals';
import type { VmView } from '@headgate/api-contracts';
import { buildVm } from '../../testing/build-vm.js';
import { MockService } from '../../testing/mock-service.js';
import { FleetFeed } from './fleet-feed.js';
import { FleetStore } from './fleet-store.js';

const web = buildVm({ name: 'web' });
const db = buildVm({ name: 'db' });

describe('FleetFeed', () => {
  let service: MockService;
  let store: FleetStore<VmView>;
  let feed: FleetFeed<VmView>;

  beforeEach(() => {
    jest.useFakeTimers();
    service = new MockService();
    service.install();
    store = new FleetStore();
    feed = new FleetFeed('/api/vms', store);
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

  test('shows the snapshot, then each change and removal, with one notification per burst', async () => {
    service.stream.snapshot([web]);
    expect(store.current()).toMatchObject({ phase: 'live', partial: false });
    let notified = 0;
    store.subscribe(() => notified++);
    service.stream.emit('changed', db);
    service.stream.emit('changed', { ...web, status: 'Paused' });
    service.stream.emit('removed', { ref: db.ref });
    await jest.advanceTimersByTimeAsync(100);
    expect(notified).toBe(1);
    expect(store.current().entries).toEqual([{ ...web, status: 'Paused' }]);
  });

  test('records the status of contexts, and which entries are the last known ones', async () => {
    service.stream.snapshot([web]);
    service.stream.emit('status', { context: 'prod', up: false, reason: 'gone' });
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
    expect(service.stream.url).toBe('/api/vms?lastEventId=boot-3');
    service.stream.emit('status', { context: 'prod', up: true });
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
    expect(service.stream.url).toBe('/api/vms?lastEventId=other-1');
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
    expect(service.asked('GET /api/vms').map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
    expect(store.current()).toMatchObject({ phase: 'polling', entries: [web] });
  });

  test('sends nothing after it was closed', async () => {
    feed.stop();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(service.streams).toHaveLength(1);
    expect(service.requests).toEqual([]);
  });
});

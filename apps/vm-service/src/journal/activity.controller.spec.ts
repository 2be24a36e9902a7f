import 'reflect-metadata';
import type { ActivityView, JournalSummaryView } from '@headgate/api-contracts';
import { AuditLog } from '@headgate/domain-contracts';
import { Edge } from '../testing/edge.js';

const ann = { 'tailscale-user-login': 'ann' };
const eve = { 'tailscale-user-login': 'eve' };
const DAY_MS = 24 * 60 * 60_000;

let edge: Edge;

beforeEach(async () => {
  edge = await new Edge().open({ SVC_ADMINS: 'ann' });
  await edge.send('GET', '/api/vms');
});

afterEach(() => edge.close());

const read = async <T>(path: string, caller = ann): Promise<T> => {
  const { status, json } = await edge.send('GET', `/api/ext/journal/${path}`, undefined, caller);
  expect([status, json.error]).toEqual([200, undefined]);
  return json as unknown as T;
};
const totals = ({ counts }: ActivityView) =>
  counts.reduce(
    (sum, { users, tokens, failed }) => ({
      users: sum.users + users,
      tokens: sum.tokens + tokens,
      failed: sum.failed + failed,
    }),
    { users: 0, tokens: 0, failed: 0 },
  );
const act = async (): Promise<void> => {
  await edge.send('POST', '/api/vms/default/db/stop', {}, ann);
  await edge.send('POST', '/api/vms/default/db/pause', {}, ann); // fails: the VM is stopped
  await edge.send('DELETE', '/api/vms/default/db', {}, eve); // denied
};

describe('GET /api/ext/journal/activity', () => {
  test.each([
    ['1h', 60, 60_000],
    ['24h', 144, 600_000],
    ['7d', 168, 3_600_000],
    ['30d', 120, 21_600_000],
  ])(
    'counts the actions of %s in %i spans of %i ms, for everyone who may read the fleet',
    async (range, spans, stepMs) => {
      await act();
      const activity = await read<ActivityView>(`activity?range=${range}`, eve);
      expect(totals(activity)).toEqual({ users: 1, tokens: 0, failed: 1 });
      expect(activity).toMatchObject({ range, stepMs });
      expect(activity.to - activity.from).toBe(spans * stepMs);
      expect(activity.from % stepMs).toBe(0);
      expect(activity.to).toBeGreaterThan(Date.now());
      for (const { t } of activity.counts) {
        expect((t - activity.from) % stepMs).toBe(0);
        expect(t).toBeLessThan(activity.to);
      }
    },
  );

  test('counts those with API tokens apart', async () => {
    const created = await edge.send('POST', '/api/ext/tokens', { name: 'ci', actions: ['power'] }, ann);
    const bearer = { authorization: `Bearer ${String(created.json['token'])}` };
    expect((await edge.send('POST', '/api/vms/default/db/stop', {}, bearer)).status).toBe(200);
    expect(totals(await read('activity'))).toEqual({ users: 1, tokens: 1, failed: 0 });
  });

  test('leaves out older entries, and those of a clock that was ahead', async () => {
    const log = edge.service.app.get(AuditLog);
    const entry = { caller: 'ann', action: 'start', ref: '', outcome: 'ok', message: '' } as const;
    for (const time of [Date.now() - DAY_MS - 600_000, Date.now() + DAY_MS])
      log.append({ ...entry, time: new Date(time).toISOString() });
    expect((await read<ActivityView>('activity')).counts).toEqual([]);
    expect(totals(await read('activity?range=7d'))).toEqual({ users: 1, tokens: 0, failed: 0 });
  });

  test('refuses another range, and callers who see a part of the fleet only', async () => {
    expect((await edge.send('GET', '/api/ext/journal/activity?range=1y', undefined, ann)).status).toBe(400);
    const created = await edge.send(
      'POST',
      '/api/ext/tokens',
      { name: 'ci', actions: ['read'], scope: { context: 'lab' } },
      ann,
    );
    const bearer = { authorization: `Bearer ${String(created.json['token'])}` };
    expect((await edge.send('GET', '/api/ext/journal/activity', undefined, bearer)).status).toBe(403);
  });
});

describe('GET /api/ext/journal/summary', () => {
  test('counts the entries that match, and those of each caller, for administrators', async () => {
    await act();
    expect(await read<JournalSummaryView>('summary')).toEqual({
      entries: 3,
      failed: 1,
      denied: 1,
      objects: 1,
      callers: [
        { caller: 'ann', token: '', entries: 2 },
        { caller: 'eve', token: '', entries: 1 },
      ],
    });
    expect(await read('summary?action=PAU&since=2020-01-01')).toMatchObject({ entries: 1, failed: 1, objects: 1 });
    expect(await read('summary?until=2020-01-01')).toMatchObject({ entries: 0, callers: [] });
    expect((await edge.send('GET', '/api/ext/journal/summary', undefined, eve)).status).toBe(403);
  });

  test('the journal is filtered by a part of the action', async () => {
    await act();
    const { json } = await edge.send('GET', '/api/ext/journal?action=sto', undefined, ann);
    expect(json).toMatchObject([{ action: 'stop' }]);
    for (const wrong of ['', '%20'])
      expect((await edge.send('GET', `/api/ext/journal?action=${wrong}`, undefined, ann)).status).toBe(400);
  });
});

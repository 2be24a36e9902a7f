import type { ActivityView, HistoryRange } from '@headgate/api-contracts';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildTask } from '../testing/build-task.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

let service: MockService;
beforeEach(() => (service = givenService()));
afterEach(() => closeConsole(service));

const NO_ENTRIES = { entries: 0, failed: 0, denied: 0, objects: 0, callers: [] };
const HOUR_MS = 3_600_000;
const START = Date.parse('2026-01-01T00:00:00Z');

/** 24 hours in 24 spans, with actions in the first, third and last one. */
const activity = (range: HistoryRange = '24h'): ActivityView => ({
  range,
  from: START,
  to: START + 24 * HOUR_MS,
  stepMs: HOUR_MS,
  counts: [
    { t: START, users: 1, tokens: 0, failed: 0 },
    { t: START + 2 * HOUR_MS, users: 4, tokens: 6, failed: 1 },
    { t: START + 23 * HOUR_MS, users: 1, tokens: 0, failed: 0 },
  ],
});

const givenActivity = (): void =>
  void service.on('GET /api/ext/journal/activity', ({ query }: { query: URLSearchParams }) => ({
    body: activity(query.get('range') as HistoryRange),
  }));

const bar = () => within(screen.getByRole('contentinfo'));

describe('the activity bar', () => {
  test('shows two running tasks with their progress, the number of the others, and the last change', async () => {
    const ended = { status: 'done', progress: 1 } as const;
    service.on('GET /api/tasks', [
      buildTask({ id: '1', ref: 'vm/prod/tailvm/one', progress: 0.62 }),
      buildTask({ id: '2', ref: 'vm/prod/tailvm/two', progress: null }),
      ...['3', '4', '5'].map((id) => buildTask({ id, ref: `vm/prod/tailvm/hidden-${id}` })),
      buildTask({ id: '6', ref: 'vm/prod/tailvm/late', ...ended, caller: '', finishedAt: '2026-01-01T00:01:00Z' }),
      buildTask({ id: '7', ...ended, status: 'error', caller: 'bob', finishedAt: '2026-01-01T00:02:00Z' }),
    ]);
    const { user } = await openConsole('/plugins', [], service.on('GET /api/plugins', []));
    const button = await bar().findByRole('button', { name: 'Tasks: 5 running' });
    expect(bar().getByText('Create one').parentElement?.textContent).toBe('Create one62 %');
    expect(bar().getByText('Create two').parentElement?.textContent).toBe('Create two');
    expect(bar().getByText('+3')).toBeTruthy();
    expect(bar().queryByText(/hidden/)).toBeNull();
    expect(bar().getByText(/^Last change by bob: Create first failed/)).toBeTruthy();
    await user.click(button);
    expect(screen.getByRole('complementary', { name: 'Tasks' })).toBeTruthy();
  });

  test('shows nothing but its button when there are no tasks', async () => {
    await openConsole('/plugins', [], service.on('GET /api/plugins', []));
    expect(screen.getByRole('contentinfo').textContent).toBe('Tasks');
  });
});

describe('the pulse', () => {
  test('shows the actions of a day in the bar, and leads to the page of the activity', async () => {
    givenActivity();
    const { user } = await openConsole('/plugins', [], service.on('GET /api/plugins', []));
    await user.click(await bar().findByRole('link', { name: '24 h: 13 actions, 1 failed' }));
    expect(await screen.findByRole('heading', { name: 'Activity', level: 1 })).toBeTruthy();
  });

  test('is absent for callers who see a part of the fleet only, and asks nothing for them', async () => {
    service.on('GET /api/whoami', {
      login: 'eve',
      name: 'Eve',
      admin: true,
      enforced: true,
      roles: [{ folder: 'prod', role: 'operator' }],
    });
    await openConsole('/activity', [], service);
    expect(await screen.findByText(/^No tasks yet/)).toBeTruthy();
    expect(service.asked('GET /api/ext/journal/activity')).toEqual([]);
  });

  test('follows the stream without further requests, and the other ranges are requested again', async () => {
    givenActivity();
    const { user, receive } = await openConsole('/activity', [], service);
    await bar().findByRole('link', { name: /^24 h: 13 actions/ });
    const requests = (): string[] =>
      service.asked('GET /api/ext/journal/activity').map(({ query }) => query.get('range') ?? '');
    expect(requests()).toEqual(['24h']);
    await user.click(await screen.findByRole('button', { name: '7 d, the last 7 days' }));
    await screen.findByRole('heading', { name: 'The last 7 days' });
    const counts = [{ t: START, users: 2, tokens: 0, failed: 0 }];
    await receive(() => service.pageStream.emit('activity.snapshot', { ...activity(), counts }));
    expect(await bar().findByRole('link', { name: '24 h: 2 actions' })).toBeTruthy();
    await waitFor(() => expect(requests()).toEqual(['24h', '7d', '7d']));
  });
});

describe('the chart of the activity', () => {
  // jsdom's PointerEvent has no coordinates.
  beforeAll(() => void Object.assign(globalThis, { PointerEvent: MouseEvent }));

  /** Points at a part of the chart between 0 and 1. */
  const point = (kind: 'pointerDown' | 'pointerMove' | 'pointerUp', part: number): void => {
    const bars = screen.getByRole('img', { name: /actions/ }).parentElement as HTMLElement;
    bars.getBoundingClientRect = () => ({ left: 100, width: 240 }) as DOMRect;
    fireEvent[kind](bars, { clientX: 100 + part * 240, button: 0, pointerId: 1 });
  };

  test('selects spans for the list below, which are part of the address', async () => {
    givenActivity();
    const started = (id: string, hour: number, finished: number | null) =>
      buildTask({
        id,
        ref: `vm/prod/tailvm/at-${hour}`,
        startedAt: new Date(START + hour * HOUR_MS).toISOString(),
        finishedAt: finished === null ? null : new Date(START + finished * HOUR_MS).toISOString(),
        status: finished === null ? 'running' : 'done',
      });
    service.on('GET /api/tasks', [
      started('1', 1, 5),
      started('2', 2, 2.5),
      started('3', 20, 21),
      started('4', 3, null),
    ]);
    const { user } = await openConsole('/activity', [], service);
    const names = (): string[] =>
      within(screen.getByRole('main'))
        .getAllByRole('listitem')
        .map((item) => item.getAttribute('aria-label') ?? '');
    await waitFor(() => expect(names()).toHaveLength(4));
    await screen.findByRole('img', { name: '13 actions, 1 failed in the last 24 hours' });
    point('pointerDown', 2.5 / 24);
    point('pointerUp', 2.5 / 24);
    expect(names()).toEqual(['Create at-1', 'Create at-2']);
    expect(location.hash).toContain('from=2026-01-01T02%3A00%3A00.000Z&to=2026-01-01T03%3A00%3A00.000Z');
    point('pointerDown', 0.999);
    point('pointerMove', 3.5 / 24);
    point('pointerUp', 3.5 / 24);
    expect(names()).toEqual(['Create at-1', 'Create at-20', 'Create at-3']);
    await user.click(screen.getByRole('button', { name: 'Show all' }));
    expect(names()).toHaveLength(4);
    expect(location.hash).toBe('#/activity');
  });

  test('changes its range', async () => {
    givenActivity();
    const { user } = await openConsole('/activity?from=2026-01-01T02:00:00Z&to=2026-01-01T03:00:00Z', [], service);
    await user.click(await screen.findByRole('button', { name: '7 d, the last 7 days' }));
    expect(await screen.findByRole('heading', { name: 'The last 7 days' })).toBeTruthy();
    expect(location.hash).toBe('#/activity?range=7d');
  });

  test.each(['from=x&to=y', 'from=2026-01-02&to=2026-01-01', 'range=1y'])('ignores the address %s', async (search) => {
    givenActivity();
    await openConsole(`/activity?${search}`, [], service);
    expect(await screen.findByRole('heading', { name: 'The last 24 hours' })).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'Show all' })).toBeNull();
  });
});

describe('the page of the activity', () => {
  test('finds tasks by instance, user and action', async () => {
    service.on('GET /api/tasks', [
      buildTask({ id: '1', kind: 'migrate', ref: 'vm/prod/tailvm/web-1', caller: 'bob' }),
      buildTask({ id: '2', kind: 'clone', ref: 'vm/prod/tailvm/web-2', caller: 'ann' }),
    ]);
    const { user } = await openConsole('/activity', [], service);
    const filter = await screen.findByRole('textbox', { name: /^Filter tasks/ });
    const main = within(screen.getByRole('main'));
    await user.type(filter, 'WEB bob');
    expect(main.getAllByRole('listitem').map((item) => item.getAttribute('aria-label'))).toEqual(['Migrate web-1']);
    expect(main.getByRole('button', { name: 'All 1' })).toBeTruthy();
    expect(location.hash).toBe('#/activity?q=WEB+bob');
    await user.type(filter, 'x');
    expect(main.getByText('No matching tasks')).toBeTruthy();
  });

  test('lists the tasks of all users, and leads to the journal', async () => {
    service.on('GET /api/tasks', [
      buildTask({ id: '1', kind: 'migrate', ref: 'vm/prod/tailvm/web-1' }),
      buildTask({ id: '2', status: 'error', error: 'The disk is full.' }),
    ]);
    const { user } = await openConsole('/activity', [], service);
    const main = within(screen.getByRole('main'));
    expect(await main.findByRole('listitem', { name: 'Migrate web-1' })).toBeTruthy();
    await user.click(main.getByRole('button', { name: 'Failed 1' }));
    expect(main.getAllByRole('listitem').map((item) => item.getAttribute('aria-label'))).toEqual(['Create first']);
    expect(screen.getByRole('link', { current: 'page' }).textContent).toBe('Activity');
    service.on('GET /api/ext/journal', []).on('GET /api/ext/journal/summary', NO_ENTRIES);
    await user.click(await main.findByRole('link', { name: /^Journal/ }));
    expect(await screen.findByRole('heading', { name: 'Journal', level: 1 })).toBeTruthy();
    expect(screen.getByRole('link', { current: 'page' }).textContent).toBe('Activity');
    await user.click(main.getByRole('link', { name: 'Tasks' }));
    expect(await screen.findByRole('heading', { name: 'Activity', level: 1 })).toBeTruthy();
  });

  test('says why there are no tasks', async () => {
    service.fails('GET /api/tasks', 503, 'The service restarts.');
    await openConsole('/activity', [], service);
    expect(await screen.findByText('The service restarts.')).toBeTruthy();
  });
});

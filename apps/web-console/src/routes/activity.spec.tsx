import { screen, within } from '@testing-library/react';
import { buildTask } from '../testing/build-task.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

let service: MockService;
beforeEach(() => (service = givenService()));
afterEach(() => closeConsole(service));

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

describe('the page of the activity', () => {
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
    service.on('GET /api/ext/journal', []);
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

import { screen, within } from '@testing-library/react';
import { buildTask } from '../testing/build-task.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { PANEL } from '../testing/panel.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const SECONDS = { low: 2, high: 4, measured: 12 };
const step = (name: string, more: object = {}) => ({ name, detail: `of web-1`, ...more });
const plan = (more: object = {}) => ({ steps: [step('stop')], warnings: [], refusals: [], ...more });

describe('the durations in plans', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1' });
  const panel = () => within(screen.getByRole(...PANEL));
  const planned = (path: string, answer: object, body: object): void =>
    void service.on(path, ({ query }: MockRequest) => ({ body: query.get('dryRun') ? body : answer }));
  /** Opens the plan of an action. */
  const open = async (action: string) => {
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    const power = within(screen.getByRole('toolbar', { name: 'Actions for web-1' }));
    await user.click(power.getByRole('button', { name: 'More actions' }));
    await user.click(screen.getByRole('menuitem', { name: action }));
    await screen.findByRole('region', { name: 'Planned changes' });
    return user;
  };

  test('are those of the steps and of all of them, and name their origin', async () => {
    const steps = [step('stop', { seconds: { low: 1, high: 2, measured: 12 } }), step('start')];
    planned('POST /api/vms/tailvm/web-1/restart', {}, plan({ steps, seconds: SECONDS }));
    await open('Restart…');
    expect(panel().getByText('Takes 2 to 4 s, measured 12 times.')).toBeTruthy();
    expect(
      panel()
        .getAllByRole('listitem')
        .map(({ textContent }) => textContent),
    ).toEqual(['stop of web-1 · 1 to 2 s', 'start of web-1']);
  });

  test('are shown once for a single step, with the interruption of the guest', async () => {
    const interruption = { low: 0.1, high: 0.3, measured: 3 };
    const steps = [step('migrate', { seconds: SECONDS })];
    planned('POST /api/vms/tailvm/web-1/migrate', {}, plan({ steps, seconds: SECONDS, interruption }));
    await open('Migrate…');
    expect(panel().getAllByText(/2 to 4 s/)).toHaveLength(1);
    expect(panel().getByText('The guest is interrupted for less than 1 s, measured 3 times.')).toBeTruthy();
  });

  test('are left out where nothing was measured', async () => {
    planned('POST /api/vms/tailvm/web-1/restart', { status: 'ok' }, plan());
    const user = await open('Restart…');
    expect(panel().queryByText(/Takes/)).toBeNull();
    await user.click(panel().getByRole('button', { name: 'Restart web-1' }));
    await screen.findByText('web-1 is restarting');
    expect(panel().queryByText(/promised|took/)).toBeNull();
  });

  test('are compared with the time of the task', async () => {
    const id = 'migrate-web-1-1';
    planned('POST /api/vms/tailvm/web-1/migrate', { task: id, status: 'ok' }, plan({ seconds: SECONDS }));
    const task = { id, kind: 'migrate', ref: web.ref, status: 'done', promised: SECONDS, tookSeconds: 3.1 } as const;
    service.on(`GET /api/tasks/${id}`, buildTask(task));
    const user = await open('Migrate…');
    await user.click(panel().getByRole('button', { name: 'Migrate web-1' }));
    expect(await panel().findByText('Done: promised 2 to 4 s, took 3 s')).toBeTruthy();
  });

  test('are promised while the task runs', async () => {
    const id = 'migrate-web-1-1';
    planned('POST /api/vms/tailvm/web-1/migrate', { task: id, status: 'ok' }, plan({ seconds: SECONDS }));
    service.on(`GET /api/tasks/${id}`, buildTask({ id, kind: 'migrate', ref: web.ref, promised: SECONDS }));
    const user = await open('Migrate…');
    await user.click(panel().getByRole('button', { name: 'Migrate web-1' }));
    expect(await panel().findByText('Usually takes 2 to 4 s, measured 12 times')).toBeTruthy();
  });

  test('stay a promise while the guest shuts down', async () => {
    planned('POST /api/vms/tailvm/web-1/restart', { status: 'ok' }, plan({ seconds: SECONDS }));
    const user = await open('Restart…');
    await user.click(panel().getByRole('button', { name: 'Restart web-1' }));
    expect(await panel().findByText('Usually takes 2 to 4 s, measured 12 times')).toBeTruthy();
    expect(panel().queryByText(/took/)).toBeNull();
  });

  test('are compared with the time of a request without a task', async () => {
    planned('POST /api/vms/tailvm/web-1/pause', { status: 'ok' }, plan({ seconds: SECONDS }));
    const user = await open('Pause…');
    await user.click(panel().getByRole('button', { name: 'Pause web-1' }));
    expect(await panel().findByText('Done: promised 2 to 4 s, took less than 1 s')).toBeTruthy();
  });

  test('are in the plan and in the result of a bulk operation', async () => {
    const body = { ok: true, ...plan({ steps: [], seconds: SECONDS }), members: [], unplanned: 0 };
    const counts = { waiting: 0, running: 0, done: 1, error: 0, skipped: 0 };
    const bulk = { action: 'stop', counts } as const;
    const task = { id: 'bulk-1', kind: 'bulk', ref: '', status: 'done', bulk } as const;
    planned('POST /api/ext/bulk', { task: 'bulk-1' }, body);
    service.on('GET /api/tasks/bulk-1', buildTask({ ...task, members: [], promised: SECONDS, tookSeconds: 3 }));
    const { user } = await openConsole('/vms', [web], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(
      within(screen.getByRole('toolbar', { name: /selected/ })).getByRole('button', { name: 'Shut down' }),
    );
    expect(await panel().findByText('Takes 2 to 4 s, measured 12 times.')).toBeTruthy();
    await user.type(panel().getByRole('textbox', { name: 'Type 1 to confirm' }), '1');
    await user.click(panel().getByRole('button', { name: 'Shut down 1 VM' }));
    expect(await screen.findByText('Done: promised 2 to 4 s, took 3 s')).toBeTruthy();
  });
});

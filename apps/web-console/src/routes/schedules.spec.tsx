import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { ScheduleView } from '@headgate/api-contracts';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { PANEL } from '../testing/panel.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

let service: MockService;
beforeEach(() => {
  service = givenService();
  service.on('GET /api/folders', { folders: [{ path: 'prod' }] });
  service.on('POST /api/ext/schedules/preview', ({ body }: MockRequest) =>
    (body as { cron: string }).cron === 'nonsense'
      ? { status: 400, body: { code: 'INVALID_INPUT', error: 'cron: "nonsense" must have 5 fields.' } }
      : { body: { times: ['2026-01-02T01:30:00.000Z', '2026-01-03T01:30:00.000Z'] } },
  );
});
afterEach(() => closeConsole(service));

const PATH = '/api/ext/schedules';
const night: ScheduleView = {
  id: '3fa9c1e2-0000-4000-8000-000000000001',
  owner: 'ann',
  name: 'Night',
  enabled: true,
  cron: '30 2 * * *',
  timeZone: 'Europe/Berlin',
  jitterSeconds: 60,
  missed: 'skip',
  job: { action: 'snapshot', keep: 7, atOnce: 2, query: { kind: 'vm', q: 'tag:db', folder: 'prod', context: 'lab' } },
  createdAt: '2026-01-01T00:00:00.000Z',
  changedAt: '2026-01-01T00:00:00.000Z',
  nextRun: '2026-01-02T01:30:00.000Z',
  lastRun: {
    id: 'run',
    planned: '2026-01-01T01:30:00.000Z',
    trigger: 'time',
    status: 'error',
    task: 'bulk-snapshot-1',
    recordedAt: '2026-01-01T01:30:00.000Z',
    reason: '1 of 2 failed.',
  },
};

describe('the schedules', () => {
  test('show their next and their last run, with its task', async () => {
    service.on(`GET ${PATH}`, [
      night,
      { ...night, id: 'other', name: 'Off', enabled: false, nextRun: null, lastRun: null },
    ]);
    await openConsole('/schedules', [], service);
    const table = within(await screen.findByRole('table', { name: 'Schedules' }));
    const [row, off] = ['Night', 'Off'].map((name) => within(table.getByText(name).closest('tr')!));
    expect(row!.getByText('tag:db, prod, lab')).toBeTruthy();
    expect(row!.getByText('1 of 2 failed.').getAttribute('lang')).toBe('en');
    expect(row!.getByRole('link', { name: 'Failed' }).getAttribute('href')).toContain('/tasks/bulk-snapshot-1');
    expect((row!.getByRole('switch') as HTMLInputElement).checked).toBe(true);
    expect([off!.getByText('Disabled'), off!.getByText('Never')]).toHaveLength(2);
  });

  test('are created with the next runs shown while typing', async () => {
    service.on(`GET ${PATH}`, []);
    service.on(`POST ${PATH}`, ({ body }: MockRequest) => ({
      status: 201,
      body: { ...night, ...(body as object), runs: [] },
    }));
    const { user } = await openConsole('/schedules', [], service);
    const form = within(await screen.findByRole('form', { name: 'New schedule' }));
    const runs = within(form.getByRole('group', { name: 'Next runs' }));
    await waitFor(() => expect(runs.getAllByRole('listitem')).toHaveLength(2));
    await user.click(form.getByRole('button', { name: 'Create schedule' }));
    expect(service.asked(`POST ${PATH}`)).toEqual([]);
    await user.type(form.getByLabelText(/^Name/), 'Stop at night');
    await user.selectOptions(form.getByLabelText('Action'), 'Force stop');
    expect(form.queryByLabelText('Snapshots to keep')).toBeNull();
    await user.type(form.getByLabelText('Folder'), 'prod');
    fireEvent.change(form.getByLabelText(/^Cron expression/), { target: { value: 'nonsense' } });
    expect(await runs.findByText('cron: "nonsense" must have 5 fields.')).toBeTruthy();
    fireEvent.change(form.getByLabelText(/^Cron expression/), { target: { value: '@daily' } });
    fireEvent.change(form.getByLabelText(/^Time zone/), { target: { value: 'Europe/Berlin' } });
    await waitFor(() =>
      expect(service.asked(`POST ${PATH}/preview`).at(-1)?.body).toEqual({ cron: '@daily', timeZone: 'Europe/Berlin' }),
    );
    await user.click(form.getByLabelText('After an outage, make up for missed runs with one run'));
    await user.click(form.getByRole('button', { name: 'Create schedule' }));
    expect(await screen.findByText('Stop at night was created')).toBeTruthy();
    expect(service.asked(`POST ${PATH}`).map(({ body }) => body)).toEqual([
      {
        name: 'Stop at night',
        cron: '@daily',
        timeZone: 'Europe/Berlin',
        missed: 'once',
        job: { action: 'stop', force: true, query: { kind: 'vm', folder: 'prod' } },
      },
    ]);
  });

  test('back VMs up to a target, boot the backups, and keep those until a newer one has booted', async () => {
    const target = { id: 'feed000000000001', name: 'nightly', kind: 'directory', path: '/mnt/nightly' };
    const backup = { target: target.id, keep: { last: 3 }, prove: true, onlyIfProved: true };
    const proved: ScheduleView = { ...night, job: { action: 'backup', query: { kind: 'vm', q: 'tag:db' }, backup } };
    service.on('GET /api/ext/backups/targets', [target]).on(`GET ${PATH}`, [proved]);
    service.on(`PATCH ${PATH}/${night.id}`, { ...proved, runs: [] });
    const { user } = await openConsole('/schedules', [], service);
    await user.click(await screen.findByRole('button', { name: 'Edit Night' }));
    const form = within(await screen.findByRole('form', { name: 'Change Night' }));
    await form.findByRole('option', { name: 'nightly' });
    const save = async () => {
      await user.click(form.getByRole('button', { name: 'Save changes' }));
      const requests = service.asked(`PATCH ${PATH}/${night.id}`);
      return (requests.at(-1)?.body as { job: ScheduleView['job'] }).job.backup;
    };
    const proof = form.getByRole('switch', { name: /^Boot the new backups/ });
    expect((proof as HTMLInputElement).checked).toBe(true);
    await user.click(proof);
    await user.click(form.getByRole('switch', { name: /^Delete a backup only/ }));
    expect(await save()).toEqual({ target: target.id, keep: { last: 3 } });
  });

  test('are changed without a change of what the form does not show', async () => {
    service.on(`GET ${PATH}`, [night]);
    service.on(`PATCH ${PATH}/${night.id}`, { ...night, name: 'Nightly', runs: [] });
    const { user } = await openConsole('/schedules', [], service);
    await user.click(await screen.findByRole('button', { name: 'Edit Night' }));
    const form = within(await screen.findByRole('form', { name: 'Change Night' }));
    const name = form.getByLabelText(/^Name/);
    await user.clear(name);
    await user.type(name, 'Nightly');
    await user.click(form.getByRole('button', { name: 'Save changes' }));
    expect(await screen.findByText('Nightly was changed')).toBeTruthy();
    expect(service.asked(`PATCH ${PATH}/${night.id}`).map(({ body }) => body)).toEqual([
      { name: 'Nightly', cron: '30 2 * * *', timeZone: 'Europe/Berlin', missed: 'skip', job: night.job },
    ]);
    expect(screen.getByRole('form', { name: 'New schedule' })).toBeTruthy();
  });

  test('are disabled with one click, and the refusal of the service is shown', async () => {
    service.on(`GET ${PATH}`, [night]);
    service.fails(`PATCH ${PATH}/${night.id}`, 404, 'There is no schedule.', 'SCHEDULE_NOT_FOUND');
    const { user } = await openConsole('/schedules', [], service);
    await user.click(await screen.findByRole('switch', { name: 'Run Night at its times' }));
    expect(service.asked(`PATCH ${PATH}/${night.id}`)[0]?.body).toEqual({ enabled: false });
    expect(await screen.findByText('There is no schedule.')).toBeTruthy();
  });

  test.each([
    ['Run now: Night', `POST ${PATH}/${night.id}/run`, 'Run now', 'Night runs'],
    ['Delete Night', `DELETE ${PATH}/${night.id}`, 'Delete', 'Night was deleted'],
  ])('%s shows the plan before', async (button, request, label, done) => {
    service.on(`GET ${PATH}`, [night]);
    const plan = { steps: [{ name: 'step', detail: 'of the plan' }], warnings: [], refusals: [] };
    service.on(request, ({ query }: MockRequest) => ({
      body: query.get('dryRun') === 'true' ? plan : { status: 'ok' },
    }));
    const { user } = await openConsole('/schedules', [], service);
    await user.click(await screen.findByRole('button', { name: button }));
    const panel = within(await screen.findByRole(...PANEL));
    expect(await panel.findByText(/of the plan/)).toBeTruthy();
    expect(service.asked(request).every(({ query }) => query.get('dryRun') === 'true')).toBe(true);
    await user.click(panel.getByRole('button', { name: label }));
    expect(await screen.findByText(done)).toBeTruthy();
  });

  test('can not be created by users who may only read', async () => {
    service.on(`GET ${PATH}`, []);
    service.on('GET /api/whoami', { login: 'bob', name: '', admin: false, enforced: true, trust: 'users' });
    const { user } = await openConsole('/schedules', [], service);
    const form = within(await screen.findByRole('form', { name: 'New schedule' }));
    const button = form.getByRole('button', { name: 'Create schedule' });
    await waitFor(() => expect(button.getAttribute('aria-disabled')).toBe('true'));
    await user.click(button);
    expect(service.asked(`POST ${PATH}`)).toEqual([]);
  });
});

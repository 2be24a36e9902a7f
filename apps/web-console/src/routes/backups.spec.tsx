import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { PANEL } from '../testing/panel.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const TARGETS = '/api/ext/backups/targets';
const NIGHTLY = `${TARGETS}/feed000000000001`;
const WEEKLY = `${TARGETS}/feed000000000002`;
const nightly = {
  id: 'feed000000000001',
  name: 'nightly',
  kind: 'directory',
  path: '/mnt/nightly',
  createdAt: '2026-01-01T00:00:00Z',
};
const weekly = { ...nightly, id: 'feed000000000002', name: 'weekly', path: '/mnt/weekly' };
const point = (id: string, name: string, more: object = {}) => ({
  id: id.repeat(64),
  time: '2026-01-02T01:30:00.000Z',
  ref: `vm/prod/tailvm/${name}`,
  uid: `uid-${name}`,
  consistency: 'frozen',
  sizeBytes: 8 * 1024 ** 3,
  ...more,
});
const WEB = point('a', 'web-1');
const PLAN = { steps: [{ name: 'one step', detail: 'Of the plan.' }], warnings: [], refusals: [] };

let service: MockService;
beforeEach(() => {
  service = givenService();
  service.on(
    'GET /api/capabilities',
    buildCapabilities([buildContext({ abilities: { backupSource: true, snapshots: true, backups: true } })]),
  );
  service.on(`GET ${TARGETS}`, [nightly, weekly]);
  service.on(`GET ${NIGHTLY}/state`, {
    state: 'ready',
    points: 2,
    lastBackup: '2026-01-02T01:30:00.000Z',
    usedBytes: 3 * 1024 ** 3,
    freeBytes: 5 * 1024 ** 3,
  });
  service.on(`GET ${WEEKLY}/state`, { state: 'unusable', reason: 'Its folder has no repository.' });
  service.on(`GET ${NIGHTLY}/points`, [
    WEB,
    point('b', 'db', { time: '2026-01-01T01:30:00.000Z', consistency: 'stopped' }),
  ]);
  service.on(`GET ${WEEKLY}/points`, []);
  // Of the tasks that begin
  service.usually(/^GET \/api\/tasks\//, { error: 'There is no such task.', code: 'TASK_NOT_FOUND' }, 404);
});
afterEach(() => closeConsole(service));

const planned = (request: string, answer: object): void =>
  void service.on(request, ({ query }: MockRequest) => ({ body: query.get('dryRun') ? PLAN : answer }));
const real = (request: string): MockRequest[] => service.asked(request).filter(({ query }) => !query.has('dryRun'));
const open = async (whoami?: object) => {
  if (whoami) service.on('GET /api/whoami', { login: 'vera', name: '', ...whoami });
  return openConsole('/backups', [], service);
};
const panel = () => within(screen.getByRole(...PANEL));
/** Presses a button of the panel once its plan is there. */
const confirm = async (name: string): Promise<void> => {
  await panel().findByText('Of the plan.');
  fireEvent.click(panel().getByRole('button', { name }));
};
const rowOf = async (table: string, text: string) =>
  within(
    within(await screen.findByRole('table', { name: table }))
      .getByText(text)
      .closest('tr')!,
  );

describe('the page of backups', () => {
  test('shows the targets with their states, and why one can not be used', async () => {
    await open();
    const row = await rowOf('Backup targets', 'nightly');
    await row.findByText('Ready');
    expect([row.getByText('3 GiB'), row.getByText('5 GiB'), row.getByText('/mnt/nightly')]).toHaveLength(3);
    const other = await rowOf('Backup targets', 'weekly');
    await other.findByText('Unusable');
    expect(other.getByText('Its folder has no repository.').getAttribute('lang')).toBe('en');
    fireEvent.click(other.getByRole('button', { name: 'Show the backups in weekly' }));
    const section = within(await screen.findByRole('region', { name: 'Backups in weekly' }));
    await section.findByText('No backups yet');
  });

  test('finds backups by VM, time and state of the disks', async () => {
    await open();
    await rowOf('Backups', 'web-1');
    const search = screen.getByRole('textbox', { name: 'Search the backups' });
    const shown = () =>
      within(screen.getByRole('table', { name: 'Backups' }))
        .getAllByRole('link')
        .map(({ textContent }) => textContent);
    for (const [text, found] of [
      ['WEB', ['web-1']],
      ['2026-01-01', ['db']],
      ['frozen tailvm', ['web-1']],
    ] as const) {
      fireEvent.change(search, { target: { value: text } });
      expect([text, shown()]).toEqual([text, found]);
    }
    fireEvent.change(search, { target: { value: 'nothing' } });
    expect(screen.getByText('No backup matches.')).toBeTruthy();
  });

  test('restores a backup as a new VM after its plan, and deletes one', async () => {
    planned(`POST ${NIGHTLY}/points/${WEB.id}/restore`, { task: 'restore-1' });
    planned(`DELETE ${NIGHTLY}/points/${WEB.id}`, { status: 'deleted' });
    await open();
    const row = await rowOf('Backups', 'web-1');
    fireEvent.click(row.getByRole('button', { name: /^Restore the backup of web-1/ }));
    fireEvent.change(panel().getByRole('textbox', { name: /^Name(?!space)/ }), { target: { value: 'web-2' } });
    await confirm('Restore');
    await screen.findByText('web-2 is being restored');
    expect(real(`POST ${NIGHTLY}/points/${WEB.id}/restore`)[0]?.body).toEqual({
      context: 'prod',
      namespace: 'tailvm',
      name: 'web-2',
      keepMacs: false,
      instant: false,
    });
    fireEvent.click(row.getByRole('button', { name: /^Delete the backup of web-1/ }));
    expect(real(`DELETE ${NIGHTLY}/points/${WEB.id}`)).toEqual([]);
    await confirm('Delete');
    await screen.findByText('The backup of web-1 was deleted');
    expect(real(`DELETE ${NIGHTLY}/points/${WEB.id}`)).toHaveLength(1);
  });

  test('shows whether a backup has booted, boots one after its plan, and saves the certificate', async () => {
    const reason = 'The blob 0f is damaged.';
    service.on(`GET ${NIGHTLY}/points`, [
      WEB,
      point('b', 'db', { proof: { state: 'booted', at: '2026-01-02T04:00:00.000Z' } }),
      point('c', 'mail', { proof: { state: 'failed', at: '2026-01-02T05:00:00.000Z', reason } }),
    ]);
    planned(`POST ${NIGHTLY}/points/${WEB.id}/prove`, { task: 'prove-1' });
    const saved: string[] = [];
    Object.assign(URL, { createObjectURL: () => 'blob:proof', revokeObjectURL: () => undefined });
    HTMLAnchorElement.prototype.click = function (this: HTMLAnchorElement) {
      saved.push(this.download);
    };
    await open();
    const row = await rowOf('Backups', 'web-1');
    expect(row.getByText('Never booted')).toBeTruthy();
    expect((await rowOf('Backups', 'mail')).getByText('Did not boot')).toBeTruthy();
    expect(screen.getByText(reason).getAttribute('lang')).toBe('en');
    const search = screen.getByRole('textbox', { name: 'Search the backups' });
    fireEvent.change(search, { target: { value: 'booted' } });
    expect(screen.queryByText('Never booted')).toBeNull();
    const booted = await rowOf('Backups', 'db');
    const certificate = /^Save the certificate of the backup of db/;
    service.fails(`GET ${NIGHTLY}/points/${'b'.repeat(64)}/proof`, 404, 'The backup was never booted.');
    fireEvent.click(booted.getByRole('button', { name: certificate }));
    await screen.findByText("Couldn't save the certificate");
    service.on(`GET ${NIGHTLY}/points/${'b'.repeat(64)}/proof`, { certificate: {}, signature: {} });
    fireEvent.click(booted.getByRole('button', { name: certificate }));
    await waitFor(() => expect(saved).toEqual(['db-proof.json']));
    fireEvent.change(search, { target: { value: '' } });
    fireEvent.click((await rowOf('Backups', 'web-1')).getByRole('button', { name: /^Boot the backup of web-1/ }));
    fireEvent.change(panel().getByLabelText(/^Time limit/), { target: { value: '4' } });
    // At the field, and in place of the plan: nothing is booted with another limit.
    await panel().findByText('Preview unavailable');
    expect(panel().getAllByText('Enter 5 to 3600 seconds.')).toHaveLength(2);
    fireEvent.change(panel().getByLabelText(/^Time limit/), { target: { value: '60' } });
    fireEvent.click(panel().getByRole('switch'));
    await confirm('Boot');
    await screen.findByText('The backup of web-1 is being booted');
    expect(real(`POST ${NIGHTLY}/points/${WEB.id}/prove`)[0]?.body).toEqual({
      context: 'prod',
      readAll: false,
      timeLimitSeconds: 60,
    });
  });

  test('offers another context for a backup whose context is gone', async () => {
    const lost = point('d', 'old', { ref: 'vm/gone/ns/old' });
    service.on(`GET ${NIGHTLY}/points`, [lost]);
    planned(`POST ${NIGHTLY}/points/${lost.id}/restore`, { task: 'restore-1' });
    planned(`POST ${NIGHTLY}/points/${lost.id}/prove`, { task: 'prove-1' });
    await open();
    const row = await rowOf('Backups', 'old');
    fireEvent.click(row.getByRole('button', { name: /^Restore the backup of old/ }));
    expect((panel().getByLabelText('Context') as HTMLSelectElement).value).toBe('prod');
    expect((panel().getByLabelText('Namespace') as HTMLInputElement).value).toBe('');
    fireEvent.click(row.getByRole('button', { name: /^Boot the backup of old/ }));
    expect((panel().getByLabelText('Context') as HTMLSelectElement).value).toBe('prod');
  });

  test('cleans up a target by rules, checks one, and removes one, each after its plan', async () => {
    planned(`POST ${NIGHTLY}/clean`, { task: 'clean-1' });
    planned(`POST ${NIGHTLY}/check`, { task: 'check-1' });
    planned(`DELETE ${NIGHTLY}`, { status: 'removed' });
    await open();
    const row = await rowOf('Backup targets', 'nightly');
    fireEvent.click(row.getByRole('button', { name: 'Clean up nightly' }));
    fireEvent.change(panel().getByLabelText('Days'), { target: { value: '-1' } });
    await panel().findByText('Preview unavailable');
    fireEvent.change(panel().getByLabelText('Days'), { target: { value: '14' } });
    await confirm('Delete backups');
    await screen.findByText('nightly is being cleaned up');
    expect(real(`POST ${NIGHTLY}/clean`)[0]?.body).toMatchObject({
      keep: { last: 3, daily: 14, weekly: 4, monthly: 6 },
    });
    fireEvent.click(row.getByRole('button', { name: 'Check nightly' }));
    fireEvent.click(panel().getByRole('switch'));
    await confirm('Check');
    await waitFor(() => expect(real(`POST ${NIGHTLY}/check`)[0]?.body).toEqual({ readData: true }));
    fireEvent.click(row.getByRole('button', { name: 'Remove nightly' }));
    await confirm('Remove');
    await screen.findByText('nightly was removed. Its repository is kept.');
  });

  test('adds a target, whose password has to be repeated and is sent once', async () => {
    planned(`POST ${TARGETS}`, weekly);
    await open();
    const form = within(await screen.findByRole('form', { name: 'Add a backup target' }));
    const add = form.getByRole('button', { name: /Add target/ });
    const type = (label: RegExp, value: string) => fireEvent.change(form.getByLabelText(label), { target: { value } });
    type(/^Name/, 'offsite');
    type(/^Path/, '/mnt/offsite');
    type(/^Password/, 'correct horse battery');
    expect(form.getByText('The passwords differ.')).toBeTruthy();
    fireEvent.click(add);
    expect(service.asked(`POST ${TARGETS}`)).toEqual([]);
    type(/^Repeat/, 'correct horse battery');
    fireEvent.click(form.getByRole('button', { name: /Add target/ }));
    await confirm('Add target');
    await screen.findByText('offsite was added');
    expect((form.getByLabelText(/^Password/) as HTMLInputElement).value).toBe('');
    expect(real(`POST ${TARGETS}`)).toHaveLength(1);
  });

  test('backs a VM up after its plan', async () => {
    service.on('GET /api/vms', [buildVm({ name: 'web-1' })]);
    planned('POST /api/ext/vms/tailvm/web-1/backup', { task: 'backup-1' });
    await open();
    await rowOf('Backup targets', 'nightly');
    fireEvent.click(screen.getByRole('button', { name: 'Back up now…' }));
    fireEvent.change(await screen.findByLabelText(/^VM/), { target: { value: 'vm/prod/tailvm/web-1' } });
    fireEvent.click(screen.getByRole('button', { name: 'Continue' }));
    fireEvent.change(panel().getByLabelText('Target'), { target: { value: weekly.id } });
    await confirm('Back up');
    await screen.findByText('web-1 is being backed up');
    expect(real('POST /api/ext/vms/tailvm/web-1/backup')[0]?.body).toEqual({ target: weekly.id });
  });

  test('asks for no state that the user may not read, and says why buttons are off', async () => {
    await open({ admin: false, enforced: true, roles: [] });
    const row = await rowOf('Backup targets', 'nightly');
    fireEvent.click(row.getByRole('button', { name: 'Remove nightly' }));
    expect(row.getAllByText('Only administrators can do this.')).toHaveLength(3);
    expect(service.asked(`GET ${NIGHTLY}/state`)).toEqual([]);
  });
});

describe('the backups of a VM', () => {
  const VM = '/vms/prod/tailvm/web-1/snapshots';
  beforeEach(() => {
    service.on('GET /api/vms/tailvm/web-1/snapshots', []);
    service.on('GET /api/ext/vms/tailvm/web-1/checkpoints', []);
  });

  test('are those of all targets, the newest first, and one that fails hides no other', async () => {
    service.on(`GET ${NIGHTLY}/points`, [WEB]);
    service.fails(`GET ${WEEKLY}/points`, 502, 'Its folder has no repository.');
    await openConsole(VM, [buildVm({ name: 'web-1' })], service);
    await rowOf('Backups', 'nightly');
    await screen.findByText("Couldn't load the backups in weekly");
    expect(service.asked(`GET ${NIGHTLY}/points`)[0]?.query.get('ref')).toBe('vm/prod/tailvm/web-1');
    planned('POST /api/ext/vms/tailvm/web-1/backup', { task: 'backup-1' });
    fireEvent.click(screen.getByRole('button', { name: 'Back up now…' }));
    await confirm('Back up');
    await screen.findByText('web-1 is being backed up');
  });

  test('are replaced by the reason where the context has none', async () => {
    service.on(
      'GET /api/capabilities',
      buildCapabilities([buildContext({ abilities: { backupSource: 'Clusters have no backups.', snapshots: true } })]),
    );
    await openConsole(VM, [buildVm({ name: 'web-1' })], service);
    const section = within(await screen.findByRole('region', { name: 'Backups' }));
    await section.findByText('Clusters have no backups.');
    expect(section.queryByRole('button')).toBeNull();
  });
});

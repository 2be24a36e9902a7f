import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';

const PATH = '/api/vms/tailvm/web-1';
const CHECKPOINTS = '/api/ext/vms/tailvm/web-1/checkpoints';
const one = { name: 'one', phase: 'Succeeded', creationTime: '2026-01-01T00:00:00.000Z', ready: true };
const PLAN = { steps: [{ name: 'one step', detail: 'Of the plan.' }], warnings: [], refusals: [] };

/** Answers dry runs with a plan. */
const plannedOn = (service: MockService, request: string, answer: object): void =>
  void service.on(request, ({ query }: MockRequest) => ({ body: query.get('dryRun') ? PLAN : answer }));
const real = (service: MockService, request: string): MockRequest[] =>
  service.asked(request).filter(({ query }) => !query.has('dryRun'));

const failed = { ...one, name: 'two', phase: 'Failed', ready: false, reason: 'snapshot deadline exceeded' };

describe('the snapshots of a VM', () => {
  let service: MockService;
  const planned = (request: string, answer: object): void => plannedOn(service, request, answer);
  beforeEach(() => (service = givenService().on(`GET ${CHECKPOINTS}`, [])));
  afterEach(() => closeConsole(service));

  test('include the memory of a running VM on request', async () => {
    service.on(`GET ${PATH}/snapshots`, [{ ...one, memory: true }]);
    service.on(`POST ${PATH}/snapshots`, { name: 'two' });
    await openConsole('/vms/prod/tailvm/web-1/snapshots', [buildVm({ name: 'web-1' })], service);
    expect(await screen.findByText('one (with memory)')).toBeTruthy();
    fireEvent.click(screen.getByRole('switch', { name: 'Include memory' }));
    fireEvent.click(screen.getByRole('button', { name: 'Create snapshot' }));
    await screen.findByText('Created snapshot two');
    expect(service.asked(`POST ${PATH}/snapshots`)[0]?.body).toEqual({ memory: true });
    planned(`POST ${PATH}/snapshots/one/restore`, { status: 'restoring' });
    fireEvent.click(screen.getByRole('button', { name: 'Restore one' }));
    expect((await screen.findByRole(...PANEL)).textContent).toContain('continues from the moment of the snapshot');
  });

  test('are listed, created, restored and deleted', async () => {
    service.on(`GET ${PATH}/snapshots`, [one, failed]);
    service.on(`POST ${PATH}/snapshots`, { name: 'three' });
    planned(`POST ${PATH}/snapshots/one/restore`, { status: 'restoring' });
    planned(`DELETE ${PATH}/snapshots/two`, { status: 'deleted' });
    await openConsole('/vms/prod/tailvm/web-1/snapshots', [buildVm({ name: 'web-1' })], service);
    const table = await screen.findByRole('table', { name: 'Snapshots' });
    expect(within(table).getAllByRole('row')[2]?.textContent).toContain('snapshot deadline exceeded');

    fireEvent.change(screen.getByRole('textbox', { name: 'Name of the snapshot' }), { target: { value: 'three' } });
    fireEvent.click(screen.getByRole('button', { name: 'Create snapshot' }));
    await screen.findByText('Created snapshot three');
    expect(service.asked(`POST ${PATH}/snapshots`)[0]?.body).toEqual({ name: 'three' });

    fireEvent.click(screen.getByRole('button', { name: 'Restore one' }));
    const panel = () => within(screen.getByRole(...PANEL));
    expect(screen.getByRole(...PANEL).textContent).toContain('powered off');
    await panel().findByText('Of the plan.');
    fireEvent.click(panel().getByRole('button', { name: 'Restore one' }));
    await waitFor(() => expect(real(service, `POST ${PATH}/snapshots/one/restore`)).toHaveLength(1));
    expect(await panel().findByText('web-1 is being restored to one')).toBeTruthy();

    fireEvent.click(screen.getByRole('button', { name: 'Delete two' }));
    await panel().findByText('Of the plan.');
    fireEvent.click(panel().getByRole('button', { name: 'Delete two' }));
    await waitFor(() => expect(real(service, `DELETE ${PATH}/snapshots/two`)).toHaveLength(1));
  });

  test('can not be restored before they are complete', async () => {
    service.on(`GET ${PATH}/snapshots`, [failed]);
    await openConsole('/vms/prod/tailvm/web-1/snapshots', [buildVm({ name: 'web-1' })], service);
    const restore = await screen.findByRole('button', { name: 'Restore two' });
    expect(restore.getAttribute('aria-disabled')).toBe('true');
  });
});

describe('a clone', () => {
  let service: MockService;
  beforeEach(() => (service = givenService().on(`GET ${CHECKPOINTS}`, [])));
  afterEach(() => closeConsole(service));

  test('of a stopped VM gets the given name', async () => {
    service.on(`GET ${PATH}/snapshots`, []);
    const warning = 'The clone does not get the tags of web-1: prod.';
    const plan = { steps: [{ name: 'clone', detail: 'Copy of web-1.' }], warnings: [warning], refusals: [] };
    service.on(`POST ${PATH}/clone`, ({ query }: MockRequest) => ({
      body: query.get('dryRun') === 'true' ? plan : { target: 'copy', ref: 'vm/prod/tailvm/copy' },
    }));
    await openConsole('/vms/prod/tailvm/web-1/snapshots', [buildStoppedVm({ name: 'web-1' })], service);
    fireEvent.click(await screen.findByRole('button', { name: 'Clone…' }));
    const dialog = await screen.findByRole('dialog');
    const name = within(dialog).getByRole('textbox', { name: /Name of the clone/ });
    fireEvent.change(name, { target: { value: 'No Name' } });
    expect(name.getAttribute('aria-invalid')).toBe('true');
    fireEvent.change(name, { target: { value: 'copy' } });
    fireEvent.click(within(dialog).getByRole('button', { name: 'Show the plan' }));
    const planned = within(await screen.findByRole('complementary', { name: 'Clone web-1 to copy?' }));
    expect(await planned.findByText(warning)).toBeTruthy();
    expect(service.asked(`POST ${PATH}/clone`).map(({ query }) => query.get('dryRun'))).toEqual(['true']);
    // The name is kept when the user returns.
    fireEvent.click(planned.getByRole('button', { name: 'Cancel' }));
    expect(screen.getByRole<HTMLInputElement>('textbox', { name: /Name of the clone/ }).value).toBe('copy');
    fireEvent.click(screen.getByRole('button', { name: 'Show the plan' }));
    const again = within(await screen.findByRole('complementary', { name: 'Clone web-1 to copy?' }));
    await again.findByText('Copy of web-1.');
    fireEvent.click(again.getByRole('button', { name: 'Clone' }));
    await screen.findByText('Cloned web-1');
    const sent = service.asked(`POST ${PATH}/clone`).filter(({ query }) => query.get('dryRun') === null);
    expect(sent.map(({ body }) => body)).toEqual([{ target: 'copy' }]);
  });

  test('of a running VM is not offered, and neither is the mark of a template', async () => {
    service.on(`GET ${PATH}/snapshots`, []);
    await openConsole('/vms/prod/tailvm/web-1/snapshots', [buildVm({ name: 'web-1' })], service);
    for (const name of ['Clone…', 'Make a template'])
      expect((await screen.findByRole('button', { name })).getAttribute('aria-disabled')).toBe('true');
  });
});

describe('the checkpoints of a VM', () => {
  let service: MockService;
  const monday = { name: 'monday', creationTime: '2026-01-01T00:00:00.000Z', ready: true, changedBytes: 1024 ** 2 };
  const lost = { ...monday, name: 'lost', ready: false, changedBytes: undefined, reason: 'Its record is lost.' };
  beforeEach(() => {
    service = givenService().on(`GET ${PATH}/snapshots`, []).on(`GET ${CHECKPOINTS}`, [monday, lost]);
  });
  afterEach(() => closeConsole(service));
  const open = (vm = buildVm({ name: 'web-1' })) => openConsole('/vms/prod/tailvm/web-1/snapshots', [vm], service);
  const linksOf = (): (string | null)[] =>
    within(screen.getByRole('region', { name: 'Checkpoints' }))
      .queryAllByRole('link')
      .map((link) => link.getAttribute('href'));

  test('are listed with their changes, which can be downloaded', async () => {
    await open();
    const rows = within(await screen.findByRole('table', { name: 'Checkpoints' })).getAllByRole('row');
    expect(rows[1]?.textContent).toContain('1 MiB');
    expect(rows[2]?.textContent).toContain('Its record is lost.');
    expect(linksOf()).toEqual([`${PATH}/export?context=prod&since=monday`]);
  });

  test('are created by an export under a valid name', async () => {
    await open();
    const name = await screen.findByRole('textbox', { name: 'Name of the checkpoint' });
    fireEvent.change(name, { target: { value: 'Not A Name' } });
    expect([name.getAttribute('aria-invalid'), linksOf()]).toEqual(['true', [expect.stringContaining('since=monday')]]);
    fireEvent.change(name, { target: { value: 'tuesday' } });
    expect(linksOf()).toEqual([
      `${PATH}/export?context=prod&checkpoint=tuesday`,
      `${PATH}/export?context=prod&since=monday&checkpoint=tuesday`,
    ]);
  });

  test('are deleted', async () => {
    plannedOn(service, `DELETE ${CHECKPOINTS}/lost`, { status: 'deleted' });
    await open();
    fireEvent.click(await screen.findByRole('button', { name: 'Delete checkpoint lost' }));
    const panel = within(await screen.findByRole(...PANEL));
    await panel.findByText('Of the plan.');
    expect(real(service, `DELETE ${CHECKPOINTS}/lost`)).toEqual([]);
    fireEvent.click(panel.getByRole('button', { name: 'Delete checkpoint lost' }));
    await waitFor(() => expect(real(service, `DELETE ${CHECKPOINTS}/lost`)).toHaveLength(1));
    await waitFor(() => expect(service.asked(`GET ${CHECKPOINTS}`).length).toBeGreaterThan(1));
  });

  test('need a VM that runs', async () => {
    await open(buildStoppedVm({ name: 'web-1' }));
    expect(await screen.findByText('Start the VM to export its disk with a checkpoint.')).toBeTruthy();
  });

  test('are explained where the backend has none', async () => {
    const context = buildContext({ abilities: { backups: 'This cluster has no checkpoints.' } });
    service.on('GET /api/capabilities', buildCapabilities([context]));
    await open();
    expect(await screen.findByText('This cluster has no checkpoints.')).toBeTruthy();
    expect(linksOf()).toEqual([]);
  });
});

import { screen, waitFor, within } from '@testing-library/react';
import { buildContext, buildCapabilities } from '../testing/build-capabilities.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

describe('the page of all instances', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1', tags: ['shop'] });
  const db = buildStoppedVm({ name: 'db-1' });
  const table = () => screen.getByRole('grid', { name: 'Instances' });
  const names = () =>
    within(table())
      .getAllByRole('link')
      .map(({ textContent }) => textContent);

  test('shows each instance with its status, and follows the stream', async () => {
    const { hears } = await openConsole('/vms', [web, db], service);
    expect(names()).toEqual(['db-1', 'web-1']);
    const row = within(table()).getByRole('row', { name: /web-1/ });
    expect(row.textContent).toContain('Running');
    expect(row.textContent).toContain('10.0.0.7');
    await hears(() => service.stream.emit('changed', { ...web, status: 'Paused' }));
    await waitFor(() => expect(within(table()).getByRole('row', { name: /web-1/ }).textContent).toContain('Paused'));
    await hears(() => service.stream.emit('removed', { ref: db.ref }));
    await waitFor(() => expect(names()).toEqual(['web-1']));
  });

  test('draws only what is in sight of 10,000 instances, and says how many there are', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => buildVm({ name: `vm-${index}` }));
    await openConsole('/vms', many, service);
    expect(table().getAttribute('aria-rowcount')).toBe('10001');
    expect(names().length).toBeLessThan(100);
    expect(screen.getByText('10,000 instances')).toBeTruthy();
  });

  test('searches all words, and keeps the search in the address', async () => {
    const { user } = await openConsole('/vms', [web, db], service);
    await user.keyboard('/');
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Search instances' }));
    await user.keyboard('shop run');
    await waitFor(() => expect(names()).toEqual(['web-1']));
    expect(location.hash).toBe('#/vms?q=shop+run');
    await user.click(screen.getByRole('button', { name: 'Clear filters' }));
    await waitFor(() => expect(names()).toHaveLength(2));
  });

  test('opens as the address says: filtered and sorted', async () => {
    const more = [web, db, buildVm({ name: 'big', cpu: 64 })];
    await openConsole('/vms?status=Running&sort=-cpu', more, service);
    expect(names()).toEqual(['big', 'web-1']);
    expect(screen.getByRole('columnheader', { name: 'CPU' }).getAttribute('aria-sort')).toBe('descending');
  });

  test('sorts by a click on a heading', async () => {
    const { user } = await openConsole('/vms', [web, db], service);
    await user.click(within(screen.getByRole('columnheader', { name: 'Name' })).getByRole('button'));
    await waitFor(() => expect(names()).toEqual(['web-1', 'db-1']));
  });

  test('shows only those of one status', async () => {
    const { user } = await openConsole('/vms', [web, db], service);
    await user.click(screen.getByRole('button', { name: 'Stopped 1' }));
    await waitFor(() => expect(names()).toEqual(['db-1']));
    expect(screen.getByText('1 of 2 instances')).toBeTruthy();
  });

  test('remembers which columns were chosen', async () => {
    const { user } = await openConsole('/vms', [web], service);
    await user.click(screen.getByRole('button', { name: 'Columns' }));
    await user.click(await screen.findByRole('checkbox', { name: 'IP' }));
    await waitFor(() => expect(screen.queryByRole('columnheader', { name: 'IP' })).toBeNull());
    expect(JSON.parse(localStorage.getItem('headgate.columns-vms') ?? '[]')).not.toContain('ip');
    await user.click(await screen.findByRole('menuitem', { name: 'As at first' }));
    expect(await screen.findByRole('columnheader', { name: 'IP' })).toBeTruthy();
  });

  test('is found as it was left by who comes back from an instance', async () => {
    const { user } = await openConsole('/vms?status=Running&sort=-cpu', [web, db], service);
    await user.click(screen.getByRole('link', { name: 'web-1' }));
    await user.click(await screen.findByRole('link', { name: 'Back to all instances' }));
    await waitFor(() => expect(location.hash).toBe('#/vms?status=Running&sort=-cpu'));
  });

  test('saves what it shows as CSV', async () => {
    const saved: Blob[] = [];
    Object.assign(URL, {
      createObjectURL: (blob: Blob) => (saved.push(blob), 'blob:x'),
      revokeObjectURL: () => undefined,
    });
    Object.assign(HTMLAnchorElement.prototype, { click: () => undefined });
    const { user } = await openConsole('/vms?q=db', [web, db], service);
    await user.click(screen.getByRole('button', { name: 'Save 1 instance as CSV' }));
    expect(saved[0]?.type).toBe('text/csv');
    expect(saved[0]?.size).toBeGreaterThan(50);
  });

  test('disturbs a guest only after a question, which Escape answers with no', async () => {
    service.on('POST /api/vms/tailvm/web-1/stop', { status: 'ok' });
    const { user } = await openConsole('/vms', [web], service);
    await user.click(screen.getByRole('button', { name: 'Shut down web-1' }));
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(service.asked('POST /api/vms/tailvm/web-1/stop')).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Shut down web-1' }));
    await user.keyboard('{Enter}');
    expect(await screen.findByText('web-1 was asked to shut down')).toBeTruthy();
  });

  test('starts one from its row', async () => {
    service.on('POST /api/vms/tailvm/db-1/start', { status: 'ok' });
    const { user } = await openConsole('/vms', [db], service);
    await user.click(screen.getByRole('button', { name: 'Start db-1' }));
    expect(await screen.findByText('db-1 is starting')).toBeTruthy();
    expect(service.asked('POST /api/vms/tailvm/db-1/start')[0]?.query.get('context')).toBe('prod');
  });

  test('a range is selected with Shift', async () => {
    const row = ['a', 'b', 'c', 'd'].map((name) => buildVm({ name }));
    const { user } = await openConsole('/vms', row, service);
    await user.click(screen.getByRole('checkbox', { name: 'Select a' }));
    await user.keyboard('{Shift>}');
    await user.click(screen.getByRole('checkbox', { name: 'Select c' }));
    await user.keyboard('{/Shift}');
    expect(screen.getByText('3 selected')).toBeTruthy();
  });

  test('an empty fleet leads to the first instance', async () => {
    service.on('GET /api/images', [
      { name: 'debian', description: '', containerDisk: 'x', defaultUser: '' },
      { name: 'tiny', description: '', containerDisk: 'y', defaultUser: 'root' },
    ]);
    service.on('GET /api/instancetypes', { instancetypes: [], preferences: [] });
    service.on('GET /api/nodes', []);
    const { user } = await openConsole('/vms', [], service);
    await user.click(screen.getByRole('button', { name: 'Create VM' }));
    expect(await screen.findByRole<HTMLInputElement>('radio', { name: /^tiny/ })).toHaveProperty('checked', true);
    expect(location.hash).toBe('#/vms?create=1');
  });

  test('says that the guests are simulated, until it was read', async () => {
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ simulated: true })]));
    const { user } = await openConsole('/vms', [web], service);
    expect(await screen.findByText('The guests of prod are simulated')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'I know' }));
    expect(screen.queryByText('The guests of prod are simulated')).toBeNull();
    expect(screen.getByText('simulated')).toBeTruthy();
  });

  test('a lost context is named with its reason, and its instances are not to be switched', async () => {
    const { hears } = await openConsole('/vms', [web], service);
    await hears(() => {
      service.stream.emit('status', { context: 'prod', up: false, reason: 'connect ECONNREFUSED.' });
      service.stream.emit('changed', { ...web, stale: true });
    });
    expect(
      await screen.findByText('prod: connect ECONNREFUSED. Its 1 instances are shown as they were known last.'),
    ).toBeTruthy();
    await waitFor(() =>
      expect(screen.getByRole('button', { name: 'Shut down web-1' }).title).toContain("can't be reached"),
    );
  });

  test('says what the service said when the list can not be had, and tries again when asked', async () => {
    service.fails('GET /api/vms', 503, 'No configured context can be reached.');
    const { user, hears } = await openConsole('/vms', undefined, service);
    await hears(() => service.stream.break());
    expect(await screen.findByText('No configured context can be reached.')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    await hears(() => service.stream.snapshot([web]));
    expect(names()).toEqual(['web-1']);
  });

  test('somebody who may only look can look', async () => {
    service.on('GET /api/whoami', { login: 'bob@example.org', name: 'Bob', admin: false, enforced: true });
    const { user } = await openConsole('/vms', [web], service);
    expect(await screen.findByText('view only')).toBeTruthy();
    expect(screen.getByRole('button', { name: /^Create VM/ }).getAttribute('aria-disabled')).toBe('true');
    await user.click(screen.getByRole('button', { name: 'Shut down web-1' }));
    await user.keyboard('c');
    expect(screen.queryByRole('dialog')).toBeNull();
  });
});

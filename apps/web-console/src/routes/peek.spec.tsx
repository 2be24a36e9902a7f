import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';

describe('the details of a row', () => {
  let service: MockService;
  const web = buildVm({ name: 'web-1', reason: 'Its disk is slow.' });
  const db = buildStoppedVm({ name: 'db-1' });
  beforeEach(() => {
    service = givenService();
    for (const name of ['web-1', 'db-1']) {
      service.on(`GET /api/vms/tailvm/${name}/events`, []);
      service.on(`GET /api/vms/tailvm/${name}/metrics/history`, []);
      service.on(`GET /api/vms/tailvm/${name}/guestinfo`, {
        os: { prettyName: 'Debian 13' },
        users: [],
        filesystems: [],
      });
      service.fails(`GET /api/ext/vms/tailvm/${name}/hardware`, 503, 'rack-7 does not answer.', 'BACKEND_UNREACHABLE');
    }
  });
  afterEach(() => closeConsole(service));

  const row = (name: string) => screen.getByRole('row', { name: new RegExp(name) });
  const peek = (name: string) => screen.findByRole('complementary', { name: `Details of ${name}` });
  const table = () => screen.getByRole('grid');

  test('open with a click, follow the keys, open the page with Enter, and are in the address', async () => {
    const { user } = await openConsole('/vms?q=1', [web, db], service);
    await user.click(within(row('db-1')).getByText('Stopped'));
    const first = within(await peek('db-1'));
    expect(first.getByText('1 of 2')).toBeTruthy();
    expect(location.hash).toContain('peek=');
    expect(location.hash).toContain('q=1');
    fireEvent.keyDown(table(), { key: 'j' });
    const second = within(await peek('web-1'));
    expect(second.getByText('2 of 2')).toBeTruthy();
    expect(second.getByText('Its disk is slow.')).toBeTruthy();
    fireEvent.keyDown(table(), { key: 'Escape' });
    await waitFor(() => expect(screen.queryByRole(...PANEL)).toBeNull());
    expect(location.hash).toBe('#/vms?q=1');
    fireEvent.keyDown(table(), { key: 'Enter' });
    expect(await screen.findByRole('heading', { name: 'web-1', level: 1 })).toBeTruthy();
  });

  test('show a part that failed with its code, while the other parts work', async () => {
    await openConsole(`/vms?peek=${encodeURIComponent(web.ref)}`, [web, db], service);
    const panel = within(await peek('web-1'));
    expect(await panel.findByText('rack-7 does not answer.')).toBeTruthy();
    expect(panel.getByText('BACKEND_UNREACHABLE')).toBeTruthy();
    expect(await panel.findByText('Debian 13')).toBeTruthy();
    expect(await panel.findByText('No events yet')).toBeTruthy();
  });

  test('move the rows at most between the two clicks of a double click, which opens the page nevertheless', async () => {
    await openConsole('/vms', [web, db], service);
    const name = await screen.findByRole('link', { name: 'db-1' });
    const header = screen.getByRole('columnheader', { name: 'Memory' });
    fireEvent.click(name, { detail: 1 });
    expect(location.hash).toContain('peek=');
    fireEvent.click(within(header).getByRole('button'), { detail: 2 });
    fireEvent.doubleClick(within(header).getByRole('button'));
    await waitFor(() => expect(location.hash).toMatch(/db-1\/overview$/));
  });

  test('leave a double click on a header alone', async () => {
    await openConsole('/vms', [buildVm({ name: 'web-1' })], service);
    const header = screen.getByRole('columnheader', { name: 'Memory' });
    fireEvent.click(await screen.findByRole('link', { name: 'web-1' }), { detail: 1 });
    for (const detail of [1, 2]) fireEvent.click(within(header).getByRole('button'), { detail });
    fireEvent.doubleClick(within(header).getByRole('button'));
    expect(location.hash).toContain('sort=mem');
    expect(location.hash).not.toContain('overview');
  });

  test('report that the VM was deleted', async () => {
    const { receive } = await openConsole(`/vms?peek=${encodeURIComponent(db.ref)}`, [web, db], service);
    await peek('db-1');
    await receive(() => service.stream.emit('removed', { ref: db.ref }));
    expect(await screen.findByText('db-1 was deleted.')).toBeTruthy();
  });

  test('give way to a plan, which is out of date once the VM changes', async () => {
    service.on('POST /api/vms/tailvm/web-1/restart', { steps: [], warnings: [], refusals: [] });
    const { user, receive } = await openConsole(`/vms?peek=${encodeURIComponent(web.ref)}`, [web, db], service);
    await peek('web-1');
    fireEvent.keyDown(document.body, { key: 'r' });
    const plan = within(await screen.findByRole('complementary', { name: 'Restart web-1' }));
    expect(screen.queryByRole('complementary', { name: 'Details of web-1' })).toBeNull();
    const button = plan.getByRole<HTMLButtonElement>('button', { name: 'Restart web-1' });
    await waitFor(() => expect(button.disabled).toBe(false));
    await receive(() => service.stream.emit('changed', { ...web, status: 'Paused' }));
    expect(await plan.findByText('web-1 changed since this plan was created')).toBeTruthy();
    expect(button.disabled).toBe(true);
    await user.click(plan.getByRole('button', { name: 'Rehearse again' }));
    await waitFor(() => expect(button.disabled).toBe(false));
    await user.click(plan.getByRole('button', { name: 'Cancel' }));
    await peek('web-1');
  });

  test('come with a menu of all actions on a right click, with the reasons of those that are off', async () => {
    await openConsole('/vms', [web, db], service);
    fireEvent.contextMenu(within(row('db-1')).getByText('Stopped'));
    const menu = within(screen.getByRole('menu', { name: 'Actions for db-1' }));
    expect(menu.getAllByRole('menuitem').at(-1)?.textContent).toBe('Delete…');
    expect(menu.getByRole('menuitem', { name: 'Restart…' }).getAttribute('aria-disabled')).toBe('true');
    expect(menu.getByText('Only a running VM can be restarted.')).toBeTruthy();
  });

  test('offer to undo a start, after its plan', async () => {
    service.on('POST /api/vms/tailvm/db-1/start', { status: 'ok' });
    service.on('POST /api/vms/tailvm/db-1/stop', { steps: [], warnings: [], refusals: [] });
    const { user } = await openConsole('/vms', [web, db], service);
    await user.click(screen.getByRole('button', { name: 'Start db-1' }));
    await user.click(await screen.findByRole('button', { name: 'Undo' }));
    const plan = await screen.findByRole('complementary', { name: 'Shut down db-1' });
    expect(within(plan).getByText('Nothing has happened yet.')).toBeTruthy();
    await waitFor(() => expect(service.asked('POST /api/vms/tailvm/db-1/stop')).toHaveLength(1));
  });
});

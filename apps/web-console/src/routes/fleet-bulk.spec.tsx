import { screen, within } from '@testing-library/react';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

describe('the list of VMs, bulk operations', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1', tags: ['shop'] });
  const db = buildStoppedVm({ name: 'db-1' });
  const other = buildVm({ name: 'web-2' });
  const bar = () => within(screen.getByRole('toolbar', { name: /selected/ }));
  const dialog = () => within(screen.getByRole('dialog'));

  test('skips what it can not do, lists the failures, and retries them', async () => {
    let answers = false;
    service.on('POST /api/vms/tailvm/web-1/stop', { status: 'ok' });
    service.on('POST /api/vms/tailvm/web-2/stop', () =>
      answers ? { body: { status: 'ok' } } : { status: 502, body: { error: 'The guest does not respond.', code: 'X' } },
    );
    const { user } = await openConsole('/vms', [web, other, db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Shut down' }));
    expect(dialog().getByText('tailvm/db-1: It is already stopped.')).toBeTruthy();
    await user.click(dialog().getByRole('button', { name: 'Shut down: 2 VMs' }));
    expect(await dialog().findByText('1 succeeded, 1 failed, 1 skipped.')).toBeTruthy();
    expect(dialog().getByText('tailvm/web-2: The guest does not respond.')).toBeTruthy();
    answers = true;
    await user.click(dialog().getByRole('button', { name: 'Retry 1 failed' }));
    expect(await dialog().findByText('1 succeeded, 0 failed, 1 skipped.')).toBeTruthy();
    expect(service.asked('POST /api/vms/tailvm/web-1/stop')).toHaveLength(1);
  });

  test('selects the failures for another operation', async () => {
    service.on('POST /api/vms/tailvm/web-1/stop', { status: 'ok' });
    service.fails('POST /api/vms/tailvm/web-2/stop', 409, 'It is migrating.');
    const { user } = await openConsole('/vms', [web, other], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Shut down' }));
    await user.click(dialog().getByRole('button', { name: 'Shut down: 2 VMs' }));
    await user.click(await dialog().findByRole('button', { name: 'Select failed' }));
    expect(screen.getByText('1 selected')).toBeTruthy();
    expect(screen.getByRole('checkbox', { name: 'Select web-2' })).toHaveProperty('checked', true);
  });

  test('deletes only after the user typed the number, and never protected VMs', async () => {
    service.on('DELETE /api/vms/tailvm/web-1', { status: 'deleted' });
    const { user } = await openConsole('/vms', [web, { ...other, protected: true }], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Delete' }));
    expect(dialog().getByText('tailvm/web-2: It is protected against deletion.')).toBeTruthy();
    const confirm = dialog().getByRole<HTMLButtonElement>('button', { name: 'Delete: 1 VM' });
    expect(confirm.disabled).toBe(true);
    await user.type(dialog().getByRole('textbox', { name: 'Type 1 to confirm' }), '1');
    await user.click(confirm);
    expect(await dialog().findByText('1 succeeded, 0 failed, 1 skipped.')).toBeTruthy();
  });

  test.each(['Force stop', 'Restart'])('%s needs the number typed too', async (label) => {
    const action = label === 'Restart' ? 'restart' : 'stop';
    for (const name of ['web-1', 'web-2']) service.on(`POST /api/vms/tailvm/${name}/${action}`, { status: 'ok' });
    const { user } = await openConsole('/vms', [web, other], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: label }));
    expect(dialog().getByRole<HTMLButtonElement>('button', { name: `${label}: 2 VMs` }).disabled).toBe(true);
    await user.type(dialog().getByRole('textbox', { name: 'Type 2 to confirm' }), '2{Enter}');
    expect(await dialog().findByText('2 succeeded, 0 failed, 0 skipped.')).toBeTruthy();
  });

  test('adds the tag that the user entered', async () => {
    service.on('POST /api/vms/tailvm/web-1/tags', ({ body }: { body: unknown }) => ({ body }));
    const { user } = await openConsole('/vms', [web], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'More' }));
    await user.click(await screen.findByRole('menuitem', { name: 'Add tag' }));
    await user.type(dialog().getByRole('textbox', { name: 'Tag' }), 'night');
    await user.click(dialog().getByRole('button', { name: 'Add tag: 1 VM' }));
    expect(await dialog().findByText('1 succeeded, 0 failed, 0 skipped.')).toBeTruthy();
    expect(service.asked('POST /api/vms/tailvm/web-1/tags')[0]?.body).toEqual({ tag: 'night', on: true });
  });

  test('selects only what the filter shows, and shows how many selected VMs are hidden', async () => {
    const { user } = await openConsole('/vms?status=Running', [web, other, db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    expect(screen.getByText('2 selected')).toBeTruthy();
    await user.type(screen.getByRole('textbox', { name: 'Search VMs' }), 'web-2');
    expect(await screen.findByText('2 selected, 1 hidden by filters')).toBeTruthy();
  });
});

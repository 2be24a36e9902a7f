import { screen, within } from '@testing-library/react';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

describe('the page of all instances, many at once', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1', tags: ['shop'] });
  const db = buildStoppedVm({ name: 'db-1' });
  const other = buildVm({ name: 'web-2' });
  const bar = () => within(screen.getByRole('toolbar', { name: /selected/ }));
  const dialog = () => within(screen.getByRole('dialog'));

  test('does one thing, leaves alone who can not, names who failed, and tries those again', async () => {
    let answers = false;
    service.on('POST /api/vms/tailvm/web-1/stop', { status: 'ok' });
    service.on('POST /api/vms/tailvm/web-2/stop', () =>
      answers ? { body: { status: 'ok' } } : { status: 502, body: { error: 'The guest does not answer.', code: 'X' } },
    );
    const { user } = await openConsole('/vms', [web, other, db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Shut down' }));
    expect(dialog().getByText('tailvm/db-1: It is stopped already.')).toBeTruthy();
    await user.click(dialog().getByRole('button', { name: 'Shut down: 2 instances' }));
    expect(await dialog().findByText('1 done, 1 failed, 1 left alone.')).toBeTruthy();
    expect(dialog().getByText('tailvm/web-2: The guest does not answer.')).toBeTruthy();
    answers = true;
    await user.click(dialog().getByRole('button', { name: 'Try the 1 again' }));
    expect(await dialog().findByText('1 done, 0 failed, 1 left alone.')).toBeTruthy();
    expect(service.asked('POST /api/vms/tailvm/web-1/stop')).toHaveLength(1);
  });

  test('goes on with those that failed', async () => {
    service.on('POST /api/vms/tailvm/web-1/stop', { status: 'ok' });
    service.fails('POST /api/vms/tailvm/web-2/stop', 409, 'It is migrating.');
    const { user } = await openConsole('/vms', [web, other], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Shut down' }));
    await user.click(dialog().getByRole('button', { name: 'Shut down: 2 instances' }));
    await user.click(await dialog().findByRole('button', { name: 'Select them' }));
    expect(screen.getByText('1 selected')).toBeTruthy();
    expect(screen.getByRole('checkbox', { name: 'Select web-2' })).toHaveProperty('checked', true);
  });

  test('deletes only after their number was typed, and never what is protected', async () => {
    service.on('DELETE /api/vms/tailvm/web-1', { status: 'deleted' });
    const { user } = await openConsole('/vms', [web, { ...other, protected: true }], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Delete' }));
    expect(dialog().getByText('tailvm/web-2: It is protected against deletion.')).toBeTruthy();
    const confirm = dialog().getByRole<HTMLButtonElement>('button', { name: 'Delete: 1 instance' });
    expect(confirm.disabled).toBe(true);
    await user.type(dialog().getByRole('textbox', { name: 'Type 1 to confirm' }), '1');
    await user.click(confirm);
    expect(await dialog().findByText('1 done, 0 failed, 1 left alone.')).toBeTruthy();
  });

  test('tags them with what was typed', async () => {
    service.on('POST /api/vms/tailvm/web-1/tags', ({ body }: { body: unknown }) => ({ body }));
    const { user } = await openConsole('/vms', [web], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'More' }));
    await user.click(await screen.findByRole('menuitem', { name: 'Add tag' }));
    await user.type(dialog().getByRole('textbox', { name: 'Tag' }), 'night');
    await user.click(dialog().getByRole('button', { name: 'Add tag: 1 instance' }));
    expect(await dialog().findByText('1 done, 0 failed, 0 left alone.')).toBeTruthy();
    expect(service.asked('POST /api/vms/tailvm/web-1/tags')[0]?.body).toEqual({ tag: 'night', on: true });
  });

  test('marks all that the filter shows, not those out of it, and says how many are out of sight', async () => {
    const { user } = await openConsole('/vms?status=Running', [web, other, db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    expect(screen.getByText('2 selected')).toBeTruthy();
    await user.type(screen.getByRole('textbox', { name: 'Search instances' }), 'web-2');
    expect(await screen.findByText('2 selected, 1 of them not shown')).toBeTruthy();
  });
});

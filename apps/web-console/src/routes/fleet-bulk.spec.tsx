import { screen, within } from '@testing-library/react';
import type { TaskMemberView } from '@headgate/api-contracts';
import { buildTask } from '../testing/build-task.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole, type OpenConsole } from '../testing/render-console.js';

describe('the list of VMs, bulk operations', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1', tags: ['shop'] });
  const db = buildStoppedVm({ name: 'db-1' });
  const other = buildVm({ name: 'web-2' });
  const bar = () => within(screen.getByRole('toolbar', { name: /selected/ }));
  const dialog = () => within(screen.getByRole('dialog'));

  /** Answers bulk requests with tasks that have ended, whose members failed with these reasons. */
  const answersWith = (...rounds: Record<string, string>[]): void => {
    let last = 0;
    const begin = (refs: string[], order: object): { task: string } => {
      const failures = rounds[Math.min(last, rounds.length - 1)] ?? {};
      const id = `bulk-${++last}`;
      const members = refs.map((ref): TaskMemberView => {
        const error = failures[ref.split('/').at(-1)!];
        return error === undefined ? { ref, status: 'done' } : { ref, status: 'error', error };
      });
      const error = members.filter(({ status }) => status === 'error').length;
      const counts = { waiting: 0, running: 0, done: members.length - error, error, skipped: 0 };
      const task = buildTask({
        id,
        kind: 'bulk',
        ref: '',
        status: error > 0 ? 'error' : 'done',
        bulk: { ...(order as { action: 'start' }), counts },
        members,
      });
      service.on(`GET /api/tasks/${id}`, task);
      service.on(`POST /api/ext/bulk/${id}/retry`, () => ({
        status: 202,
        body: begin(
          members.filter(({ status }) => status === 'error').map(({ ref }) => ref),
          order,
        ),
      }));
      return { task: id };
    };
    service.on('POST /api/ext/bulk', ({ body }: { body: { refs: string[] } }) => {
      const { refs, ...order } = body;
      return { status: 202, body: begin(refs, order) };
    });
  };
  /** Types the number of VMs, and confirms. */
  const confirm = async (user: OpenConsole['user'], button: string): Promise<void> => {
    const count = /\d+/.exec(button)?.[0] ?? '';
    await user.type(dialog().getByRole('textbox', { name: `Type ${count} to confirm` }), count);
    await user.click(dialog().getByRole('button', { name: button }));
  };
  const ordered = () => service.asked('POST /api/ext/bulk').map(({ body }) => body);

  test('skips what it can not do, lists the failures, and retries them', async () => {
    answersWith({ 'web-2': 'The guest does not respond.' }, {});
    const { user } = await openConsole('/vms', [web, other, db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Shut down' }));
    expect(dialog().getByText('tailvm/db-1: It is already stopped.')).toBeTruthy();
    await confirm(user, 'Shut down 2 VMs');
    expect(await screen.findByText('1 succeeded, 1 failed, 1 skipped.')).toBeTruthy();
    expect(dialog().getByText('tailvm/web-2: The guest does not respond.')).toBeTruthy();
    await user.click(dialog().getByRole('button', { name: 'Retry 1 failed' }));
    expect(await screen.findByText('1 succeeded, 0 failed, 1 skipped.')).toBeTruthy();
    expect(ordered()).toEqual([{ action: 'stop', refs: [web.ref, other.ref] }]);
  });

  test('selects the failures for another operation', async () => {
    answersWith({ 'web-2': 'It is migrating.' });
    const { user } = await openConsole('/vms', [web, other], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Shut down' }));
    await confirm(user, 'Shut down 2 VMs');
    await user.click(await screen.findByRole('button', { name: 'Select failed' }));
    expect(screen.getByText('1 selected')).toBeTruthy();
    expect(screen.getByRole('checkbox', { name: 'Select web-2' })).toHaveProperty('checked', true);
  });

  test('shows why an operation was not started', async () => {
    service.fails('POST /api/ext/bulk', 403, 'Only administrators may change anything.');
    const { user } = await openConsole('/vms', [web], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Shut down' }));
    await confirm(user, 'Shut down 1 VM');
    expect(await screen.findByText('Only administrators may change anything.')).toBeTruthy();
  });

  test('shows the progress of the task, and stops it', async () => {
    const counts = { waiting: 1, running: 0, done: 1, error: 0, skipped: 0 };
    const task = buildTask({ id: 'bulk-1', kind: 'bulk', ref: '', bulk: { action: 'stop', counts } });
    service.on('POST /api/ext/bulk', { task: 'bulk-1' }).on('GET /api/tasks/bulk-1', task);
    service.on('POST /api/ext/bulk/bulk-1/cancel', { status: 'ok' });
    const { user } = await openConsole('/vms', [web, other], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Shut down' }));
    await confirm(user, 'Shut down 2 VMs');
    expect(await screen.findByText('1 of 2')).toBeTruthy();
    await user.click(dialog().getByRole('button', { name: 'Stop' }));
    service.on('GET /api/tasks/bulk-1', {
      ...task,
      status: 'error',
      bulk: { action: 'stop', counts: { ...counts, waiting: 0, skipped: 1 } },
    });
    expect(await screen.findByText('1 succeeded, 0 failed, 1 skipped.')).toBeTruthy();
    expect(service.asked('POST /api/ext/bulk/bulk-1/cancel')).toHaveLength(1);
  });

  test('continues in the list of tasks, with the failures and the retry, also in a new tab', async () => {
    const counts = { waiting: 0, running: 0, done: 1, error: 1, skipped: 0 };
    const task = buildTask({
      id: 'bulk-1',
      kind: 'bulk',
      ref: '',
      status: 'error',
      error: '1 of 2 failed.',
      bulk: { action: 'stop', force: true, counts },
    });
    service.on('GET /api/tasks', [task]);
    service.on('GET /api/tasks/bulk-1', {
      ...task,
      members: [
        { ref: web.ref, status: 'done' },
        { ref: other.ref, status: 'error', error: 'It is migrating.' },
      ],
    });
    service.on('POST /api/ext/bulk/bulk-1/retry', { task: 'bulk-2' });
    const { user } = await openConsole('/vms', [web, other], service);
    await user.click(await screen.findByRole('button', { name: 'Tasks' }));
    const item = within(await screen.findByRole('listitem', { name: 'Force stop: 2 instances' }));
    expect(item.getByText('1 succeeded, 1 failed, 0 skipped.')).toBeTruthy();
    await user.click(item.getByRole('button', { name: 'Failures' }));
    expect(await item.findByText('tailvm/web-2: It is migrating.')).toBeTruthy();
    await user.click(item.getByRole('button', { name: 'Retry 1 failed' }));
    expect(service.asked('POST /api/ext/bulk/bulk-1/retry')).toHaveLength(1);
  });

  test('deletes only after the user typed the number, and never protected VMs', async () => {
    answersWith({});
    const { user } = await openConsole('/vms', [web, { ...other, protected: true }], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Delete' }));
    expect(dialog().getByText('tailvm/web-2: It is protected against deletion.')).toBeTruthy();
    const confirm = dialog().getByRole<HTMLButtonElement>('button', { name: 'Delete 1 VM' });
    expect(confirm.disabled).toBe(true);
    await user.type(dialog().getByRole('textbox', { name: 'Type 1 to confirm' }), '1');
    await user.click(confirm);
    expect(await screen.findByText('1 succeeded, 0 failed, 1 skipped.')).toBeTruthy();
    expect(ordered()).toEqual([{ action: 'delete', refs: [web.ref] }]);
  });

  test.each([
    ['Force stop', { action: 'stop', force: true }],
    ['Restart', { action: 'restart' }],
    ['Shut down', { action: 'stop' }],
    ['Pause', { action: 'pause' }],
  ])('%s needs the number typed too', async (label, order) => {
    answersWith({});
    const { user } = await openConsole('/vms', [web, other], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    if (label === 'Pause') {
      await user.click(bar().getByRole('button', { name: 'More' }));
      await user.click(await screen.findByRole('menuitem', { name: label }));
    } else await user.click(bar().getByRole('button', { name: label }));
    expect(dialog().getByRole<HTMLButtonElement>('button', { name: `${label} 2 VMs` }).disabled).toBe(true);
    await user.type(dialog().getByRole('textbox', { name: 'Type 2 to confirm' }), '2{Enter}');
    expect(await screen.findByText('2 succeeded, 0 failed, 0 skipped.')).toBeTruthy();
    expect(ordered()).toEqual([{ ...order, refs: [web.ref, other.ref] }]);
  });

  test('starts VMs with one click', async () => {
    answersWith({});
    const { user } = await openConsole('/vms', [db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Start' }));
    expect(dialog().queryByRole('textbox')).toBeNull();
    await user.click(dialog().getByRole('button', { name: 'Start 1 VM' }));
    expect(await screen.findByText('1 succeeded, 0 failed, 0 skipped.')).toBeTruthy();
    expect(ordered()).toEqual([{ action: 'start', refs: [db.ref] }]);
  });

  test('adds the tag that the user entered', async () => {
    answersWith({});
    const { user } = await openConsole('/vms', [web], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'More' }));
    await user.click(await screen.findByRole('menuitem', { name: 'Add tag' }));
    await user.type(dialog().getByRole('textbox', { name: 'Tag' }), 'night');
    await user.click(dialog().getByRole('button', { name: 'Add tag to 1 VM' }));
    expect(await screen.findByText('1 succeeded, 0 failed, 0 skipped.')).toBeTruthy();
    expect(ordered()).toEqual([{ action: 'tag', tag: 'night', refs: [web.ref] }]);
  });

  test('selects only what the filter shows, and shows how many selected VMs are hidden', async () => {
    const { user } = await openConsole('/vms?status=Running', [web, other, db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    expect(screen.getByText('2 selected')).toBeTruthy();
    await user.type(screen.getByRole('textbox', { name: 'Search VMs' }), 'web-2');
    expect(await screen.findByText('2 selected, 1 hidden by filters')).toBeTruthy();
  });
});

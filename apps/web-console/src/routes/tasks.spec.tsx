import type { TaskView } from '@headgate/api-contracts';
import { act, screen, waitFor, within } from '@testing-library/react';
import { buildTask } from '../testing/build-task.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

let service: MockService;
beforeEach(() => (service = givenService()));
afterEach(() => closeConsole(service));

describe('the tasks', () => {
  const tasks = [
    buildTask({ id: '1', kind: 'migrate', ref: 'vm/prod/tailvm/web-1', log: 'Copying memory' }),
    buildTask({ id: '2', status: 'error', error: 'The disk is full.', caller: 'bob' }),
    buildTask({ id: '3', status: 'done', ref: 'vm/prod/tailvm/old' }),
  ];
  const drawer = () => within(screen.getByRole('complementary', { name: 'Tasks' }));
  const titles = () =>
    drawer()
      .getAllByRole('listitem')
      .map((item) => item.getAttribute('aria-label'));

  test('of all users are listed with their authors, and can be filtered by failure', async () => {
    service.on('GET /api/tasks', tasks);
    const { user } = await openConsole('/vms', [buildVm()], service);
    await user.click(await screen.findByRole('button', { name: 'Tasks: 1 running' }));
    expect(titles()).toEqual(['Migrate web-1', 'Create first', 'Create old']);
    expect(drawer().getByText('The disk is full.')).toBeTruthy();
    expect(drawer().getByText(/bob/)).toBeTruthy();
    await user.click(drawer().getByRole('button', { name: 'Failed 1' }));
    expect(titles()).toEqual(['Create first']);
  });

  test('close with Escape and return the focus', async () => {
    const { user } = await openConsole('/vms', [buildVm()], service);
    await user.click(screen.getByRole('button', { name: 'Tasks' }));
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('complementary', { name: 'Tasks' })).toBeNull();
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Tasks' }));
  });

  describe('of one kind', () => {
    const move = buildTask({ id: 'move-web-1', kind: 'move', ref: 'vm/prod/tailvm/web', cancelable: true });
    const path = '/api/tasks/move-web-1';
    const item = () => within(screen.getByRole('listitem', { name: 'Move web' }));
    const openItem = async (task: TaskView) => {
      service.on('GET /api/tasks', [task]);
      const { user } = await openConsole('/vms', [buildVm()], service);
      await user.click(await screen.findByRole('button', { name: /^Tasks/ }));
      await screen.findByRole('listitem', { name: 'Move web' });
      return user;
    };

    test('show the bytes of their step and the remaining time, or why they wait', async () => {
      const steps = [{ name: 'Copy the disk', startedAt: '2026-01-01T00:00:00Z' }];
      const transfer = {
        doneBytes: 1.5 * 2 ** 30,
        totalBytes: 2 ** 32,
        bytesPerSecond: 2 ** 24,
        remainingSeconds: 100,
      };
      await openItem({ ...move, steps, transfer });
      expect(item().getByText('Copy the disk: 1.5 GiB of 4 GiB, 2 min left')).toBeTruthy();
      const change = (task: object) => act(async () => service.pageStream.emit('tasks.changed', task));
      await change({ ...move, steps, transfer, waiting: "Its journal can't be written: disk is full" });
      expect(await item().findByText(/^Its journal can't be written/)).toBeTruthy();
      await change({ ...move, steps, waitsFor: 'the destination to reserve the disks' });
      expect(await item().findByText('Waits for the destination to reserve the disks')).toBeTruthy();
    });

    test('show their log live, without a request for each line', async () => {
      const user = await openItem(move);
      expect(service.streams.filter(({ url }) => url.startsWith(path))).toEqual([]);
      await user.click(item().getByRole('button', { name: 'Log' }));
      const stream = service.streamOf(path);
      act(() => stream.emit('snapshot', { ...move, log: 'Copy the disk', logOffset: 14 }, 'boot-14-0'));
      act(() => stream.emit('log', { offset: 14, text: 'block 1\n' }, 'boot-22-0'));
      expect(item().getByLabelText('Log').textContent).toBe('Copy the disk\nblock 1\n');
      act(() => stream.emit('log', { offset: 22_000, text: 'block 9\n' }, 'boot-22008-0'));
      expect(item().getByLabelText('Log').textContent).toBe('Copy the disk\nblock 1\n[Some lines were cut]\nblock 9\n');
      act(() => stream.emit('changed', { ...move, status: 'done' }));
      expect(stream.closed).toBe(true);
      await user.click(item().getByRole('button', { name: 'Log' }));
      expect(item().queryByLabelText('Log')).toBeNull();
    });

    test('continue their log where it stopped when the connection was lost', async () => {
      const user = await openItem(move);
      await user.click(item().getByRole('button', { name: 'Log' }));
      const stream = service.streamOf(path);
      act(() => stream.emit('snapshot', { ...move, log: 'one', logOffset: 4 }, 'boot-4-0'));
      act(() => stream.break());
      expect(item().getByText('The connection was lost. Retrying automatically')).toBeTruthy();
      await waitFor(() => service.streamOf(`${path}?lastEventId=boot-4-0`));
      act(() =>
        service.streamOf(`${path}?lastEventId=boot-4-0`).emit('log', { offset: 0, text: 'one\ntwo\n' }, 'boot-8-0'),
      );
      expect(item().getByLabelText('Log').textContent).toBe('one\ntwo\n');
      expect(item().queryByText(/connection was lost/)).toBeNull();
    });

    test('close the stream of their log when it is hidden', async () => {
      const user = await openItem(move);
      await user.click(item().getByRole('button', { name: 'Log' }));
      const stream = service.streamOf(path);
      await user.click(item().getByRole('button', { name: 'Log' }));
      expect(stream.closed).toBe(true);
    });

    test('can be canceled, and say why that failed', async () => {
      service.fails(`DELETE ${path}`, 409, 'The task can\'t be canceled during "Switch".', 'WRONG_STATE');
      const user = await openItem(move);
      await user.click(item().getByRole('button', { name: 'Cancel' }));
      expect(await item().findByText(/can't be canceled during "Switch"/)).toBeTruthy();
      service.on(`DELETE ${path}`, { status: 'canceling' });
      service.on('GET /api/tasks', [{ ...move, cancelable: false, canceledBy: 'ada' }]);
      await user.click(item().getByRole('button', { name: 'Cancel' }));
      expect(await item().findByText('Canceling')).toBeTruthy();
      expect(item().queryByRole('button', { name: 'Cancel' })).toBeNull();
    });

    test('have no button while they can not be canceled', async () => {
      await openItem({ ...move, cancelable: false });
      expect(item().queryByRole('button', { name: 'Cancel' })).toBeNull();
    });
  });

  test('on many instances can be paused and resumed', async () => {
    const counts = { waiting: 1, running: 0, done: 1, error: 0, skipped: 0 };
    const bulk = buildTask({ id: 'bulk-1', kind: 'bulk', ref: '', bulk: { action: 'start', counts } });
    service.on('GET /api/tasks', [bulk]);
    service.on('POST /api/ext/bulk/bulk-1/pause', { status: 'ok' });
    service.on('POST /api/ext/bulk/bulk-1/resume', { status: 'ok' });
    const { user } = await openConsole('/vms', [buildVm()], service);
    await user.click(await screen.findByRole('button', { name: 'Tasks: 1 running' }));
    service.on('GET /api/tasks', [{ ...bulk, waiting: 'Paused.', bulk: { ...bulk.bulk, paused: true } }]);
    await user.click(drawer().getByRole('button', { name: 'Pause' }));
    await user.click(await drawer().findByRole('button', { name: 'Resume' }));
    expect(service.asked('POST /api/ext/bulk/bulk-1/pause')).toHaveLength(1);
    expect(service.asked('POST /api/ext/bulk/bulk-1/resume')).toHaveLength(1);
  });
});

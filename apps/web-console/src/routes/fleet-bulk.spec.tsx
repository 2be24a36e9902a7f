import { screen, waitFor, within } from '@testing-library/react';
import type { TaskMemberView } from '@headgate/api-contracts';
import { buildTask } from '../testing/build-task.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockAnswer, MockRequest, MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole, type OpenConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';
import { wholeText } from '../testing/whole-text.js';

describe('the list of VMs, bulk operations', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1', tags: ['shop'] });
  const db = buildStoppedVm({ name: 'db-1' });
  const other = buildVm({ name: 'web-2' });
  const bar = () => within(screen.getByRole('toolbar', { name: /selected/ }));
  const dialog = () => within(screen.getByRole(...PANEL));

  /** The plan of the service: it refuses nothing more than the list, unless the test says so. */
  let plan: object;
  beforeEach(() => (plan = { ok: true, steps: [], warnings: [], refusals: [], members: [], unplanned: 0 }));
  const onBulk = (answer: (request: MockRequest) => MockAnswer): MockService =>
    service.on('POST /api/ext/bulk', (request: MockRequest) =>
      request.query.get('dryRun') === 'true' ? { body: plan } : answer(request),
    );

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
    onBulk(({ body }) => {
      const { refs, ...order } = body as { refs: string[] };
      return { status: 202, body: begin(refs, order) };
    });
  };
  /** Types the number of VMs, and confirms. */
  const confirm = async (user: OpenConsole['user'], button: string): Promise<void> => {
    const count = /\d+/.exec(button)?.[0] ?? '';
    await user.type(await dialog().findByRole('textbox', { name: `Type ${count} to confirm` }), count);
    await user.click(dialog().getByRole('button', { name: button }));
  };
  const requests = (dryRun: string | null) =>
    service
      .asked('POST /api/ext/bulk')
      .filter(({ query }) => query.get('dryRun') === dryRun)
      .map(({ body }) => body);
  const ordered = () => requests(null);

  test('skips what it can not do, lists the failures, and retries them', async () => {
    answersWith({ 'web-2': 'The guest does not respond.' }, {});
    const { user } = await openConsole('/vms', [web, other, db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Shut down' }));
    expect(dialog().getByText(wholeText('tailvm/db-1: It is already stopped.'))).toBeTruthy();
    await confirm(user, 'Shut down 2 VMs');
    expect(await screen.findByText('1 succeeded, 1 failed, 1 skipped.')).toBeTruthy();
    expect(dialog().getByText(wholeText('tailvm/web-2: The guest does not respond.'))).toBeTruthy();
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
    const error = 'Only administrators may change anything.';
    onBulk(() => ({ status: 403, body: { error, code: 'NOT_PERMITTED' } }));
    const { user } = await openConsole('/vms', [web], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Shut down' }));
    await confirm(user, 'Shut down 1 VM');
    expect(await screen.findByText('Only administrators may change anything.')).toBeTruthy();
  });

  test('shows the progress of the task, and stops it', async () => {
    const counts = { waiting: 1, running: 0, done: 1, error: 0, skipped: 0 };
    const task = buildTask({ id: 'bulk-1', kind: 'bulk', ref: '', bulk: { action: 'stop', counts } });
    onBulk(() => ({ body: { task: 'bulk-1' } })).on('GET /api/tasks/bulk-1', task);
    service.on('POST /api/ext/bulk/bulk-1/cancel', { status: 'ok' });
    const { user, receive } = await openConsole('/vms', [web, other], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Shut down' }));
    await confirm(user, 'Shut down 2 VMs');
    expect(await screen.findByText('1 of 2')).toBeTruthy();
    await user.click(dialog().getByRole('button', { name: 'Stop' }));
    const bulk = { action: 'stop', counts: { ...counts, waiting: 0, skipped: 1 } } as const;
    const stopped = { ...task, status: 'error', bulk } as const;
    service.on('GET /api/tasks/bulk-1', stopped);
    await receive(() => service.pageStream.emit('tasks.changed', stopped));
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
    expect(await item.findByText(wholeText('tailvm/web-2: It is migrating.'))).toBeTruthy();
    await user.click(item.getByRole('button', { name: 'Retry 1 failed' }));
    expect(service.asked('POST /api/ext/bulk/bulk-1/retry')).toHaveLength(1);
  });

  test('deletes only after the user typed the number, and never protected VMs', async () => {
    answersWith({});
    const { user } = await openConsole('/vms', [web, { ...other, protected: true }], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Delete' }));
    expect(dialog().getByText(wholeText('tailvm/web-2: It is protected against deletion.'))).toBeTruthy();
    const confirm = dialog().getByRole<HTMLButtonElement>('button', { name: 'Delete 1 VM' });
    expect(confirm.disabled).toBe(true);
    await user.type(await dialog().findByRole('textbox', { name: 'Type 1 to confirm' }), '1');
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
    await user.type(await dialog().findByRole('textbox', { name: 'Type 2 to confirm' }), '2{Enter}');
    expect(await screen.findByText('2 succeeded, 0 failed, 0 skipped.')).toBeTruthy();
    expect(ordered()).toEqual([{ ...order, refs: [web.ref, other.ref] }]);
  });

  test('shows the plan of the service for each VM, and runs it only for those that are not refused', async () => {
    answersWith({});
    const of = (ref: string) => ({
      ref,
      ok: true,
      steps: [{ name: 'restart', detail: 'x' }],
      warnings: [],
      refusals: [],
    });
    const refusals = [{ code: 'WRONG_STATE', reason: 'web-2 is a template.', remedy: 'Remove the mark.' }];
    const members = [
      { ...of(web.ref), warnings: ['Its disk is nearly full.'] },
      { ...of(other.ref), ok: false, steps: [], refusals },
    ];
    plan = { ok: true, steps: [], warnings: [], refusals: [], members, unplanned: 0 };
    const { user } = await openConsole('/vms', [web, other, db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Restart' }));
    expect(await dialog().findByText(wholeText('tailvm/web-2: web-2 is a template. Remove the mark.'))).toBeTruthy();
    expect(dialog().getByText(wholeText('tailvm/db-1: Only a running VM can be restarted.'))).toBeTruthy();
    expect(dialog().getByText(wholeText('tailvm/web-1: Its disk is nearly full.'))).toBeTruthy();
    expect([requests('true'), ordered()]).toEqual([[{ action: 'restart', refs: [web.ref, other.ref] }], []]);
    await confirm(user, 'Restart 1 VM');
    expect(await screen.findByText('1 succeeded, 0 failed, 2 skipped.')).toBeTruthy();
    expect(ordered()).toEqual([{ action: 'restart', refs: [web.ref] }]);
  });

  test('lists all steps of a VM, and the number of those that were not planned in time', async () => {
    const steps = [
      { name: 'stop', detail: 'Power off web-1.' },
      { name: 'disk', detail: 'Delete the disk root.' },
    ];
    const members = [{ ref: web.ref, ok: true, steps, warnings: [], refusals: [] }];
    plan = { ok: true, steps: [], warnings: [], refusals: [], members, unplanned: 1 };
    onBulk(() => ({ status: 500 }));
    const { user } = await openConsole('/vms', [web, other], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Delete' }));
    expect(await dialog().findByText(wholeText('tailvm/web-1: Power off web-1. Delete the disk root.'))).toBeTruthy();
    expect(dialog().getByText(/^1 VM could not be checked in time/)).toBeTruthy();
    expect(dialog().getByRole('button', { name: 'Delete 2 VMs' })).toBeTruthy();
  });

  test('runs nothing without a plan', async () => {
    service.fails('POST /api/ext/bulk', 503, 'The service is starting.');
    const { user } = await openConsole('/vms', [db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Start' }));
    expect(await dialog().findByText('The service is starting.')).toBeTruthy();
    expect(dialog().getByRole<HTMLButtonElement>('button', { name: 'Start 1 VM' }).disabled).toBe(true);
  });

  test('starts VMs with one click', async () => {
    answersWith({});
    const { user } = await openConsole('/vms', [db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(bar().getByRole('button', { name: 'Start' }));
    const start = dialog().getByRole<HTMLButtonElement>('button', { name: 'Start 1 VM' });
    await waitFor(() => expect(start.disabled).toBe(false));
    expect(dialog().queryByRole('textbox')).toBeNull();
    await user.click(start);
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
    const add = dialog().getByRole<HTMLButtonElement>('button', { name: 'Add tag to 1 VM' });
    await waitFor(() => expect(add.disabled).toBe(false));
    expect(requests('true')).toEqual([{ action: 'tag', tag: 'night', refs: [web.ref] }]);
    await user.click(add);
    expect(await screen.findByText('1 succeeded, 0 failed, 0 skipped.')).toBeTruthy();
    expect(ordered()).toEqual([{ action: 'tag', tag: 'night', refs: [web.ref] }]);
  });

  describe('folders', () => {
    const folder = (path: string) => ({ path });
    const moved = buildVm({ name: 'web-1', folder: 'old' });
    const alike = buildVm({ name: 'web-2', folder: 'old' });
    const outside = buildVm({ name: 'web-3' });
    const put = async ({ user }: OpenConsole, label: string): Promise<void> => {
      await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
      await user.click(bar().getByRole('button', { name: 'More' }));
      await user.click(await screen.findByRole('menuitem', { name: label }));
    };
    const run = async ({ user }: OpenConsole, label: string): Promise<void> => {
      const button = await dialog().findByRole<HTMLButtonElement>('button', { name: label });
      await waitFor(() => expect(button.disabled).toBe(false));
      await user.click(button);
      await screen.findByText(/succeeded/);
    };
    beforeEach(() => {
      answersWith({});
      const folders = [folder('new'), folder('old')];
      service.on('GET /api/folders', { folders, unfoldered: { running: 0, total: 0 } });
    });

    test('puts the selected VMs into the chosen folder, and names those that are there', async () => {
      const members = [{ ref: outside.ref, ok: true, steps: [], warnings: [], refusals: [] }];
      plan = { ok: true, steps: [], warnings: [], refusals: [], members, unplanned: 0 };
      const opened = await openConsole('/vms', [moved, outside], service);
      await put(opened, 'Put into a folder');
      expect(requests('true')).toEqual([]);
      await opened.user.selectOptions(await dialog().findByRole('combobox', { name: 'Folder' }), 'new');
      const same = await dialog().findByRole('region', { name: /^Nothing changes for/ });
      expect(same.textContent).toContain('tailvm/web-3');
      await run(opened, 'Put 2 VMs into the folder');
      expect(ordered()).toEqual([{ action: 'folder', folder: 'new', refs: [moved.ref, outside.ref] }]);
    });

    test('is undone by the folder that all were in', async () => {
      const opened = await openConsole('/vms', [moved, alike], service);
      await put(opened, 'Put into a folder');
      await opened.user.selectOptions(await dialog().findByRole('combobox', { name: 'Folder' }), 'new');
      await run(opened, 'Put 2 VMs into the folder');
      await opened.user.click(dialog().getByRole('button', { name: 'Undo' }));
      expect(await dialog().findByRole('combobox', { name: 'Folder' })).toHaveProperty('value', 'old');
      await run(opened, 'Put 2 VMs into the folder');
      expect(ordered().at(-1)).toEqual({ action: 'folder', folder: 'old', refs: [moved.ref, alike.ref] });
    });

    test('has no undo when the VMs were in different folders', async () => {
      const opened = await openConsole('/vms', [moved, outside], service);
      await put(opened, 'Put into a folder');
      await opened.user.selectOptions(await dialog().findByRole('combobox', { name: 'Folder' }), 'new');
      await run(opened, 'Put 2 VMs into the folder');
      expect(dialog().queryByRole('button', { name: 'Undo' })).toBeNull();
    });

    test('takes VMs out of their folders, besides those in none', async () => {
      const opened = await openConsole('/vms', [moved, outside], service);
      await put(opened, 'Take out of the folder');
      expect(dialog().getByText(wholeText('tailvm/web-3: It is in no folder.'))).toBeTruthy();
      await run(opened, 'Take 1 VM out of the folder');
      expect(ordered()).toEqual([{ action: 'unfolder', refs: [moved.ref] }]);
      await opened.user.click(dialog().getByRole('button', { name: 'Undo' }));
      expect(await dialog().findByRole('combobox', { name: 'Folder' })).toHaveProperty('value', 'old');
    });

    test('leads to the folders when there are none, and shows why they were not loaded', async () => {
      service.on('GET /api/folders', { folders: [], unfoldered: { running: 0, total: 0 } });
      const opened = await openConsole('/vms', [outside], service);
      await put(opened, 'Put into a folder');
      expect(await dialog().findByText(/There are no folders yet\./)).toBeTruthy();
      expect(dialog().getByRole('link', { name: 'Create one' }).getAttribute('href')).toBe('#/folders');
      expect(dialog().getByRole('button', { name: /^Put 1 VM/ })).toHaveProperty('disabled', true);
    });

    test('shows why the service refuses the folder', async () => {
      const error = 'ann has no right to change the folder new.';
      service.fails('POST /api/ext/bulk', 403, error);
      const opened = await openConsole('/vms', [outside], service);
      await put(opened, 'Put into a folder');
      await opened.user.selectOptions(await dialog().findByRole('combobox', { name: 'Folder' }), 'new');
      expect(await dialog().findByText(error)).toBeTruthy();
      expect(dialog().getByRole('button', { name: /^Put 1 VM/ })).toHaveProperty('disabled', true);
    });
  });

  test('selects only what the filter shows, and shows how many selected VMs are hidden', async () => {
    const { user } = await openConsole('/vms?status=Running', [web, other, db], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    expect(screen.getByText('2 selected')).toBeTruthy();
    await user.type(screen.getByRole('textbox', { name: 'Search VMs' }), 'web-2');
    expect(await screen.findByText('2 selected, 1 hidden by filters')).toBeTruthy();
  });
});

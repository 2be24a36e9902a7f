import type { ContainerView } from '@headgate/api-contracts';
import { screen, waitFor, within } from '@testing-library/react';
import { buildTask } from '../testing/build-task.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';

const TASK = 'snapshot-web-1-7';
const WHY = 'web-1 is busy with a snapshot. It must end or be canceled first.';
const free = buildVm({ name: 'web-1' });
const busy = { ...free, busy: { task: TASK, action: 'snapshot' as const } };

const reasonOf = (button: HTMLElement): string | null | undefined =>
  document.getElementById(button.getAttribute('aria-describedby') ?? '')?.textContent;

describe('an instance that a task uses', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const row = () => screen.getByRole('row', { name: /web-1/ });
  const power = () => within(screen.getByRole('toolbar', { name: 'Actions for web-1' }));

  test('has a link to the task in the list, which appears and disappears with the stream', async () => {
    const { receive } = await openConsole('/vms', [free], service);
    expect(within(row()).queryByRole('link', { name: /Snapshot/ })).toBeNull();
    await receive(() => service.stream.emit('changed', busy));
    const link = await within(row()).findByRole('link', { name: 'Snapshot' });
    expect(link.getAttribute('href')).toBe(`#/tasks/${TASK}`);
    expect(link.getAttribute('title')).toBe('web-1 is busy with a snapshot. Show the task.');
    const stop = within(row()).getByRole('button', { name: 'Shut down web-1' });
    expect([stop.getAttribute('aria-disabled'), stop.title]).toEqual(['true', WHY]);
    await receive(() => service.stream.emit('changed', free));
    await waitFor(() => expect(within(row()).queryByRole('link', { name: 'Snapshot' })).toBeNull());
    expect(within(row()).getByRole('button', { name: 'Shut down web-1' }).getAttribute('aria-disabled')).toBe('false');
  });

  test('does not name its status twice', async () => {
    await openConsole('/vms', [{ ...free, status: 'Migrating', busy: { task: 'm-1', action: 'migrate' } }], service);
    expect(within(row()).getByText('Moving')).toBeTruthy();
    expect(within(row()).getByRole('link', { name: 'Task' }).getAttribute('href')).toBe('#/tasks/m-1');
  });

  test('has it in the list of containers, too', async () => {
    const ct: ContainerView = {
      name: 'web-1',
      namespace: 'tailvm',
      node: 'node-1',
      phase: 'Running',
      ready: true,
      image: 'nginx',
      cpu: 1,
      mem: '512Mi',
      privileged: false,
      tags: [],
      ref: 'ct/prod/tailvm/web-1',
      context: 'prod',
      backend: 'kubevirt',
      busy: { task: 'delete-web-1-1', action: 'delete' },
    };
    const { receive } = await openConsole('/containers', [], service);
    await receive(() => service.listInStream('cts').snapshot([ct]));
    expect((await within(row()).findByRole('link', { name: 'Deleting' })).getAttribute('href')).toBe(
      '#/tasks/delete-web-1-1',
    );
    expect(within(row()).getByRole('button', { name: 'Stop web-1' }).title).toContain(
      'web-1 is busy with its deletion.',
    );
  });

  test('has it on its page, and the actions that would be refused explain why until the task has ended', async () => {
    const { receive, user } = await openConsole('/vms/prod/tailvm/web-1', [busy], service);
    expect(screen.getByRole('link', { name: 'Snapshot' }).getAttribute('href')).toBe(`#/tasks/${TASK}`);
    expect(reasonOf(power().getByRole('button', { name: /^Shut down/ }))).toBe(WHY);
    await user.click(power().getByRole('button', { name: 'More actions' }));
    for (const name of [/^Restart/, /^Pause/, /^Migrate/, /^Move/, /^Snapshot/, /^Force stop/, /^Delete/])
      expect(reasonOf(power().getByRole('menuitem', { name }))).toBe(WHY);
    await user.keyboard('{Escape}');
    expect(reasonOf(screen.getByRole('button', { name: /^Move/ }))).toBe(WHY);
    expect(reasonOf(screen.getByRole('button', { name: /^Add/ }))).toBe(WHY);
    expect(reasonOf(screen.getByRole('button', { name: /^Assign/ }))).toBe(WHY);
    expect(screen.getByRole('region', { name: 'Export' }).textContent).toContain(WHY);
    await receive(() => service.stream.emit('changed', free));
    await waitFor(() => expect(screen.queryByRole('link', { name: 'Snapshot' })).toBeNull());
    expect(power().getByRole('button', { name: 'Shut down' }).getAttribute('aria-disabled')).toBeNull();
  });

  test('keeps a tag that is typed when the task begins, and does not send it', async () => {
    const { receive, user } = await openConsole('/vms/prod/tailvm/web-1', [{ ...free, tags: ['old'] }], service);
    await user.type(screen.getByRole('textbox', { name: 'New tag' }), 'night');
    await receive(() => service.stream.emit('changed', { ...busy, tags: ['old'] }));
    await screen.findByRole('link', { name: 'Snapshot' });
    await user.type(screen.getByRole('textbox', { name: 'New tag' }), '{Enter}');
    await user.click(screen.getByRole('button', { name: 'Remove tag old' }));
    expect(service.asked('POST /api/vms/tailvm/web-1/tags')).toEqual([]);
    expect((screen.getByRole('textbox', { name: 'New tag' }) as HTMLInputElement).value).toBe('night');
  });

  test('accepts no new snapshot, and keeps its name', async () => {
    service.on('GET /api/vms/tailvm/web-1/snapshots', [
      { name: 'first', creationTime: '2026-01-01T00:00:00Z', phase: 'Succeeded', ready: true },
    ]);
    service.on('GET /api/ext/vms/tailvm/web-1/checkpoints', []);
    const { receive, user } = await openConsole('/vms/prod/tailvm/web-1/snapshots', [free], service);
    await user.type(await screen.findByRole('textbox', { name: 'Name of the snapshot' }), 'second');
    await receive(() => service.stream.emit('changed', busy));
    await screen.findByRole('link', { name: 'Snapshot' });
    await user.type(screen.getByRole('textbox', { name: 'Name of the snapshot' }), '{Enter}');
    expect(reasonOf(screen.getByRole('button', { name: /^Create snapshot/ }))).toBe(WHY);
    expect(reasonOf(screen.getByRole('button', { name: /^Restore first/ }))).toBe(WHY);
    expect(reasonOf(screen.getByRole('button', { name: /^Clone/ }))).toBe(WHY);
    expect(service.asked('POST /api/vms/tailvm/web-1/snapshots')).toEqual([]);
  });

  test('is skipped by actions on several instances', async () => {
    service.on('POST /api/ext/bulk', { steps: [], warnings: [], refusals: [] });
    const { user } = await openConsole('/vms', [busy, buildVm({ name: 'db-1' })], service);
    await user.click(screen.getByRole('checkbox', { name: 'Select all shown' }));
    await user.click(
      within(screen.getByRole('toolbar', { name: 'Actions for the selected VMs' })).getByRole('button', {
        name: 'Shut down',
      }),
    );
    expect((await screen.findByRole(...PANEL)).textContent).toContain(WHY);
  });

  test('shows in the plan of a change what it meets, until that has ended', async () => {
    const refusal = { code: 'BUSY', reason: `web-1 is busy with a snapshot (task ${TASK}).`, remedy: 'Wait.' };
    const plan = {
      steps: [{ name: 'Delete the VM', detail: 'web-1' }],
      warnings: ['It waits until a start of web-1 has ended.'],
    };
    let isBusy = true;
    service.on('DELETE /api/vms/tailvm/web-1', () => ({ body: { ...plan, refusals: isBusy ? [refusal] : [] } }));
    const { user } = await openConsole(
      '/vms/prod/tailvm/web-1',
      [{ ...free, status: 'Stopped', running: false }],
      service,
    );
    await user.click(power().getByRole('button', { name: 'More actions' }));
    await user.click(power().getByRole('menuitem', { name: /^Delete/ }));
    const dialog = within(await screen.findByRole(...PANEL));
    expect(await dialog.findByText(refusal.reason)).toBeTruthy();
    expect(dialog.getByText('It waits until a start of web-1 has ended.')).toBeTruthy();
    expect((dialog.getByRole('button', { name: 'Delete web-1' }) as HTMLButtonElement).disabled).toBe(true);
    isBusy = false;
    await waitFor(() => expect(dialog.queryByText(refusal.reason)).toBeNull());
    expect((dialog.getByRole('button', { name: 'Delete web-1' }) as HTMLButtonElement).disabled).toBe(false);
  });
});

describe('the page of a task', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  test('shows its progress, its log and a link to its instance', async () => {
    service.on(`GET /api/tasks/${TASK}`, buildTask({ id: TASK, kind: 'snapshot', ref: free.ref }));
    await openConsole(`/tasks/${TASK}`, [busy], service);
    expect(await screen.findByRole('heading', { name: 'Change the snapshots of web-1' })).toBeTruthy();
    expect(screen.getByText('Write the disk')).toBeTruthy();
    expect(screen.getByRole('link', { name: 'Show instance' }).getAttribute('href')).toBe(
      '#/vms/prod/tailvm/web-1/overview',
    );
    expect(document.title).toContain('Change the snapshots of web-1');
  });

  test('says that a task does not exist any more', async () => {
    service.fails(`GET /api/tasks/${TASK}`, 404, 'The task does not exist.', 'TASK_NOT_FOUND');
    await openConsole(`/tasks/${TASK}`, [free], service);
    expect(await screen.findByText('The task does not exist.')).toBeTruthy();
  });
});

import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { VmView } from '@headgate/api-contracts';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import { buildTask } from '../testing/build-task.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const PAGE = '/vms/prod/tailvm/web-1';

let service: MockService;
beforeEach(() => (service = givenService()));
afterEach(() => closeConsole(service));

const row = (name: RegExp = /web-1/) => screen.getByRole('row', { name });
/** The chips of filters take their color from the shell's attribute. */
const greenOf = (element: Element) => [...element.querySelectorAll('.hg-status--success:not(.hg-chip)')];
const connection = () => document.querySelector('.hg-shell')?.getAttribute('data-connection');

describe('the status of a VM', () => {
  test.each<[VmView['status'], string]>([
    ['Provisioning', 'Preparing disk'],
    ['Terminating', 'Deleting'],
    ['WaitingForVolumeBinding', 'Waits for storage'],
    ['CrashLoopBackOff', 'Keeps crashing'],
    ['ErrorUnschedulable', 'No node fits'],
    ['ImagePullBackOff', 'Image not found'],
    ['ErrorPvcNotFound', 'Disk missing'],
    ['DataVolumeError', 'Disk failed'],
  ])('%s is the words "%s" in the list and on the page', async (status, words) => {
    const vm = buildStoppedVm({ name: 'web-1', status });
    const { user } = await openConsole('/vms', [vm], service);
    expect(within(row()).getByText(words)).toBeTruthy();
    expect(row().textContent).not.toContain(status);
    await user.dblClick(screen.getByRole('link', { name: 'web-1' }));
    await screen.findByRole('heading', { name: 'web-1', level: 1 });
    expect(screen.getAllByText(words).length).toBeGreaterThan(0);
    expect(document.title).toContain(words);
    expect(screen.queryByText(status)).toBeNull();
  });

  test('of a template is "Template"', async () => {
    await openConsole('/vms', [buildStoppedVm({ name: 'web-1', isTemplate: true })], service);
    expect(within(row()).getByText('Template')).toBeTruthy();
    expect(row().textContent).not.toContain('Stopped');
  });

  test('has the progress of its task while its disk is prepared', async () => {
    const ref = 'vm/prod/tailvm/web-1';
    service.on('GET /api/tasks', [buildTask({ ref, progress: 0.414 })]);
    await openConsole('/vms', [buildStoppedVm({ name: 'web-1', status: 'Provisioning' })], service);
    expect(await within(row()).findByText('Preparing disk, 41%')).toBeTruthy();
  });

  test('that is work in progress is not shown as an error', async () => {
    const vm = buildStoppedVm({ status: 'Provisioning', reason: 'The disk web-root is being filled.' });
    await openConsole(PAGE, [vm], service);
    const alert = screen.getByText('The disk web-root is being filled.').closest('.hg-alert');
    expect(alert?.textContent).toContain('Information: Preparing disk');
    expect(document.querySelector('.hg-alert--danger')).toBeNull();
  });

  test('that is a problem is an error with its reason, and the code of the API small after it', async () => {
    const vm = buildStoppedVm({ status: 'ErrorUnschedulable', reason: 'No node has 64 GiB.' });
    await openConsole(PAGE, [vm], service);
    const alert = screen.getByText('No node has 64 GiB.').closest('.hg-alert');
    expect(alert?.textContent).toContain('Error: No node fits');
    expect(within(alert as HTMLElement).getByText('ErrorUnschedulable').tagName).toBe('SMALL');
  });
});

test('the states of containers have words as well', async () => {
  const { status: _status, disk: _disk, ...fields } = buildVm({ name: 'job' });
  const ct = { ...fields, ref: 'ct/prod/tailvm/job', image: 'job:1', privileged: false, phase: 'Succeeded' };
  const { receive } = await openConsole('/containers', undefined, service);
  const pending = { ...ct, name: 'next', ref: 'ct/prod/tailvm/next', phase: 'Pending' };
  await receive(() => service.listInStream('cts').emit('snapshot', [ct, pending]));
  expect(within(row(/job/)).getByText('Ended')).toBeTruthy();
  expect(within(row(/next/)).getByText('Starting')).toBeTruthy();
});

test('a stopped VM has no usage of the past', async () => {
  const usage = { cpu: 900, memory: { usedBytes: 2 ** 30, totalBytes: 2 ** 31 } };
  const running = buildVm({ name: 'db-1' });
  const stopped = buildStoppedVm({ name: 'web-1' });
  const lost = buildVm({ name: 'old-1', stale: true });
  const { receive } = await openConsole('/vms', [running, stopped, lost], service);
  const usages = [running, stopped, lost].map(({ ref }) => ({ ref, usage }));
  await receive(() => service.pageStream.emit('usage.snapshot', usages));
  expect(await within(row(/db-1/)).findByText('45%')).toBeTruthy();
  for (const name of [/web-1/, /old-1/]) expect(within(row(name)).queryByText(/%$/)).toBeNull();
});

test('a template can not be started, for the reason that the service would give', async () => {
  const reason = 'web-1 is a template: clone it and start the clone, or remove the template mark first.';
  const { user } = await openConsole('/vms', [buildStoppedVm({ name: 'web-1', isTemplate: true })], service);
  const start = screen.getByRole('button', { name: 'Start web-1' });
  expect(start.getAttribute('aria-disabled')).toBe('true');
  expect(start.title).toBe(reason);
  await user.dblClick(screen.getByRole('link', { name: 'web-1' }));
  expect((await screen.findByRole('button', { name: 'Start' })).getAttribute('aria-disabled')).toBe('true');
  expect(screen.getByText(reason)).toBeTruthy();
});

describe('without any reachable context', () => {
  const contexts = [buildContext(), buildContext({ context: 'lab' })];
  const entries = [buildVm({ name: 'web-1', stale: true }), buildVm({ name: 'web-2', context: 'lab', stale: true })];

  const expectNothingReachable = async (): Promise<void> => {
    expect(await screen.findByText('No context is reachable')).toBeTruthy();
    expect(screen.queryByText(/^Part of the list/)).toBeNull();
    const state = await screen.findByRole('button', { name: /^0 of 2 contexts up/ });
    expect(connection()).toBe('none');
    await waitFor(() => expect(greenOf(document.body)).toEqual([]));
    fireEvent.click(state);
    await screen.findByRole('dialog', { name: 'Contexts' });
    expect(greenOf(document.body)).toEqual([]);
    const create = screen.getByRole('button', { name: /^Create VM/ });
    expect(create.getAttribute('aria-disabled')).toBe('true');
    expect(document.getElementById(create.getAttribute('aria-describedby') ?? '')?.textContent).toBe(
      'No context is reachable.',
    );
  };

  test('as the service reports it, nothing is green, and nothing can be created', async () => {
    service.on(
      'GET /api/capabilities',
      buildCapabilities(contexts.map((context) => ({ ...context, up: false, reason: 'no route to host' }))),
    );
    const { user } = await openConsole('/vms', entries, service);
    await expectNothingReachable();
    await user.keyboard('c');
    expect(location.hash).toBe('#/vms');
    expect(screen.getByText('prod: no route to host. The last known state of 1 VM is shown.')).toBeTruthy();
    await user.dblClick(screen.getByRole('link', { name: 'web-1' }));
    expect((await screen.findAllByText('Unknown · was Running')).length).toBeGreaterThan(0);
  });

  test('of a service that does not know the capabilities either', async () => {
    const error = 'prod: no route to host. lab: no route to host.';
    service.fails('GET /api/capabilities', 503, error, 'BACKEND_UNREACHABLE');
    const { receive } = await openConsole('/vms', entries, service);
    await receive(() => {
      for (const { context } of contexts)
        service.pageStream.emit('contexts.status', { context, up: false, reason: 'no route to host' });
    });
    await expectNothingReachable();
    expect(within(row()).getByText('Was Running')).toBeTruthy();
  });

  test('as only the entries of the list show it', async () => {
    service.on('GET /api/capabilities', buildCapabilities(contexts));
    await openConsole('/vms', entries, service);
    await expectNothingReachable();
  });

  test('of a service that does not respond either', async () => {
    service.on('GET /api/capabilities', buildCapabilities(contexts));
    const { receive } = await openConsole('/vms', [buildVm({ name: 'web-1' })], service);
    service.fails('GET /api/vms', 503, 'No configured context is reachable.');
    await receive(() => service.stream.break());
    await screen.findByText('The list is out of date');
    expect(connection()).toBe('none');
    const create = screen.getByRole('button', { name: /^Create VM/ });
    await waitFor(() => expect(create.getAttribute('aria-disabled')).toBe('true'));
    fireEvent.click(await screen.findByRole('button', { name: /^Disconnected/ }));
    const list = await screen.findByRole('dialog', { name: 'Contexts' });
    expect(greenOf(list)).toEqual([]);
  });
});

test('a refused request has the code of the API small after its sentence', async () => {
  service.fails('GET /api/ext/nodes', 409, 'web-1 is running.', 'WRONG_STATE');
  await openConsole('/nodes', [], service);
  const alert = await screen.findByRole('alert');
  expect(within(alert).getByText('web-1 is running.')).toBeTruthy();
  expect(within(alert).getByText('WRONG_STATE').tagName).toBe('SMALL');
});

test('the chips of the list have the words of state, and filter by the status of the API', async () => {
  const vms = [buildVm({ name: 'db-1' }), buildStoppedVm({ name: 'web-1', status: 'CrashLoopBackOff' })];
  const { user } = await openConsole('/vms', vms, service);
  await user.click(screen.getByRole('button', { name: 'Keeps crashing 1' }));
  await waitFor(() => expect(location.hash).toBe('#/vms?q=status%3Acrashloopbackoff'));
});

test('the sizes in errors of the service and of tasks read as everywhere else', async () => {
  const error = 'The disk needs 8Gi, and 1.5Gi are free.';
  service.on('GET /api/tasks', [buildTask({ id: 'one', status: 'error', error, ref: 'vm/prod/tailvm/web-1' })]);
  service.fails('GET /api/ext/nodes', 409, 'node-1 has no 64Gi.');
  const { user } = await openConsole('/nodes', [], service);
  expect(await screen.findByText('node-1 has no 64 GiB.')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Tasks' }));
  expect(await screen.findByText('The disk needs 8 GiB, and 1.5 GiB are free.')).toBeTruthy();
});

import { screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext, buildSingleMachine } from '../testing/build-capabilities.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const PLAN = {
  steps: [{ name: 'Remove the boot disk', detail: 'web-1-root' }],
  warnings: ['The existing volume data is kept.'],
  refusals: [],
};

describe('the page of a VM', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1' });
  const power = () => within(screen.getByRole('toolbar', { name: 'Actions for web-1' }));

  test('shows all properties', async () => {
    await openConsole(
      '/vms/prod/tailvm/web-1',
      [{ ...web, reason: 'Something is odd.', restartRequired: true }],
      service,
    );
    expect(screen.getByRole('heading', { name: 'web-1' })).toBeTruthy();
    expect(screen.getByRole('region', { name: 'Hardware' }).textContent).toContain('4 GiB');
    expect(screen.getByRole('region', { name: 'Guest' }).textContent).toContain('10.0.0.7');
    expect(screen.getByText('Something is odd.')).toBeTruthy();
    expect(screen.getByText('Restart required')).toBeTruthy();
  });

  test('disables unavailable actions, and explains why', async () => {
    await openConsole('/vms/prod/tailvm/web-1', [web], service);
    const start = power().getByRole('button', { name: /^Start/ });
    expect(start.getAttribute('aria-disabled')).toBe('true');
    expect(document.getElementById(start.getAttribute('aria-describedby') ?? '')?.textContent).toBe(
      'Only a stopped VM can be started. Its state is "Running".',
    );
    expect(power().getByRole('button', { name: 'Shut down' }).getAttribute('aria-disabled')).toBeNull();
  });

  test('shuts down gracefully or forcibly, each after a confirmation', async () => {
    service.on('POST /api/vms/tailvm/web-1/stop', { status: 'ok' });
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Shut down' }));
    const confirm = (name: string | RegExp) =>
      within(screen.getByRole('dialog', { name })).getByRole('button', { name: /^(Shut|Force)/ });
    await user.click(confirm('Shut down web-1?'));
    expect(await screen.findByText('web-1 is shutting down')).toBeTruthy();
    await user.click(power().getByRole('button', { name: 'Force stop' }));
    await user.click(confirm(/Force stop web-1/));
    await waitFor(() =>
      expect(service.asked('POST /api/vms/tailvm/web-1/stop').map(({ query }) => query.get('force'))).toEqual([
        null,
        'true',
      ]),
    );
  });

  test('shows the error of the service when an action fails', async () => {
    service.fails('POST /api/vms/tailvm/web-1/pause', 409, 'web-1 is migrating; wait until it is done.');
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Pause' }));
    expect(service.asked('POST /api/vms/tailvm/web-1/pause')).toEqual([]);
    const dialog = within(screen.getByRole('dialog', { name: 'Pause web-1?' }));
    await user.click(dialog.getByRole('button', { name: 'Pause' }));
    expect(await screen.findByText('web-1 is migrating; wait until it is done.')).toBeTruthy();
  });

  test('migrates to a chosen node', async () => {
    service.on(
      'GET /api/nodes',
      ['node-1', 'node-2'].map((name) => ({ name, ready: true, roles: '', kubelet: '', arch: '', context: 'prod' })),
    );
    service.on('POST /api/vms/tailvm/web-1/migrate', () => ({
      status: 202,
      body: { task: 'migrate-web-1-1', status: 'ok' },
    }));
    service.fails('GET /api/tasks/migrate-web-1-1', 404, 'The task does not exist.');
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Migrate' }));
    const dialog = within(screen.getByRole('dialog', { name: /Migrate web-1/ }));
    await dialog.findByRole('option', { name: 'node-2' });
    expect(dialog.queryByRole('option', { name: 'node-1' })).toBeNull();
    await user.selectOptions(dialog.getByRole('combobox'), 'node-2');
    await user.click(dialog.getByRole('button', { name: 'Migrate' }));
    expect(await screen.findByText('web-1 is migrating')).toBeTruthy();
    expect(service.asked('POST /api/vms/tailvm/web-1/migrate')[0]?.body).toEqual({ targetNode: 'node-2' });
  });

  test('offers the other hosts of its kind where a context is a single host', async () => {
    const hosts = ['prod', 'rack-7'].map((context) => buildSingleMachine({ context }));
    service.on('GET /api/capabilities', buildCapabilities([...hosts, buildContext({ context: 'cluster' })]));
    service.on(
      'GET /api/nodes',
      ['prod', 'rack-7', 'cluster'].map((context) => ({
        name: `${context}.example`,
        ready: true,
        roles: '',
        kubelet: '',
        arch: '',
        context,
      })),
    );
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Migrate' }));
    const dialog = within(screen.getByRole('dialog', { name: /Migrate web-1/ }));
    await dialog.findByRole('option', { name: 'rack-7 (rack-7.example)' });
    const options = dialog.getAllByRole<HTMLOptionElement>('option');
    expect(options.map(({ value }) => value)).toEqual(['', 'rack-7']);
  });

  test('disables migration when the context lacks it', async () => {
    const abilities = { power: true, migration: 'A single machine has nowhere to migrate to.' } as const;
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ abilities })]));
    await openConsole('/vms/prod/tailvm/web-1', [web], service);
    expect(await screen.findByText('A single machine has nowhere to migrate to.')).toBeTruthy();
  });

  test('copies without the clipboard API, as on plain HTTP', async () => {
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined });
    let copied = '';
    Object.assign(document, {
      execCommand: () => {
        const { activeElement } = document;
        copied = activeElement instanceof HTMLTextAreaElement ? activeElement.value : '';
        return true;
      },
    });
    await user.click(screen.getByRole('button', { name: 'Copy IP address' }));
    expect(await screen.findByRole('button', { name: 'Copied IP address' })).toBe(document.activeElement);
    expect(copied).toBe('10.0.0.7');
    Object.assign(document, { execCommand: () => false });
    await user.click(screen.getByRole('button', { name: 'Copy reference' }));
    expect(await screen.findByText("The browser doesn't allow copying here")).toBeTruthy();
  });

  test('adds and removes tags, and undoes a removal', async () => {
    service.on('POST /api/vms/tailvm/web-1/tags', ({ body }: { body: unknown }) => ({ body }));
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [{ ...web, tags: ['old'] }], service);
    await user.type(screen.getByRole('textbox', { name: 'New tag' }), 'new{Enter}');
    await user.click(screen.getByRole('button', { name: 'Remove tag old' }));
    await waitFor(() =>
      expect(service.asked('POST /api/vms/tailvm/web-1/tags').map(({ body }) => body)).toEqual([
        { tag: 'new', on: true },
        { tag: 'old', on: false },
      ]),
    );
    await user.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() =>
      expect(service.asked('POST /api/vms/tailvm/web-1/tags').at(-1)?.body).toEqual({ tag: 'old', on: true }),
    );
  });

  test('deletes a running VM only after the user typed its name, and shows the planned changes', async () => {
    service.on('DELETE /api/vms/tailvm/web-1', ({ query }: { query: URLSearchParams }) => ({
      body: query.get('dryRun') ? PLAN : { status: 'deleted' },
    }));
    const { user, receive } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Delete' }));
    const dialog = within(screen.getByRole('dialog', { name: /Delete web-1/ }));
    expect(await dialog.findByText('web-1-root')).toBeTruthy();
    expect(dialog.getByText(/The existing volume data is kept/)).toBeTruthy();
    const button = dialog.getByRole<HTMLButtonElement>('button', { name: 'Delete' });
    expect(button.disabled).toBe(true);
    await user.type(dialog.getByRole('textbox', { name: 'Type web-1 to confirm' }), 'web{Enter}');
    expect(service.asked('DELETE /api/vms/tailvm/web-1').map(({ query }) => query.get('dryRun'))).toEqual(['true']);
    await user.type(dialog.getByRole('textbox', { name: 'Type web-1 to confirm' }), '-1{Enter}');
    expect(await screen.findByText('web-1 was deleted')).toBeTruthy();
    await receive(() => service.stream.emit('removed', { ref: web.ref }));
    expect(location.hash).toBe('#/vms');
  });

  test('deletes a stopped VM without typing, but not when the plan is refused', async () => {
    service.on('DELETE /api/vms/tailvm/web-1', {
      ...PLAN,
      refusals: [{ code: 'PROTECTED', reason: 'web-1 is protected.', remedy: 'Remove the protection first.' }],
    });
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [buildStoppedVm()], service);
    await user.click(power().getByRole('button', { name: 'Delete' }));
    const dialog = within(screen.getByRole('dialog', { name: /Delete web-1/ }));
    expect(await dialog.findByText(/Remove the protection first/)).toBeTruthy();
    expect(dialog.queryByRole('textbox')).toBeNull();
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Delete' }).disabled).toBe(true);
  });

  test('shows the planned changes with the focus on them, and confirms them with Enter', async () => {
    service.on('DELETE /api/vms/tailvm/web-1', ({ query }: { query: URLSearchParams }) => ({
      body: query.get('dryRun') ? PLAN : { status: 'deleted' },
    }));
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [buildStoppedVm()], service);
    await user.click(power().getByRole('button', { name: 'Delete' }));
    const plan = await screen.findByRole('region', { name: 'Planned changes' });
    expect(document.activeElement).toBe(plan);
    await user.keyboard('{Enter}');
    expect(await screen.findByText('web-1 was deleted')).toBeTruthy();
  });

  test('shows the manifest', async () => {
    service.on('GET /api/vms/tailvm/web-1', { kind: 'VirtualMachine', spec: { running: true } });
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(screen.getByRole('tab', { name: 'Manifest' }));
    expect(await screen.findByText('"VirtualMachine"')).toBeTruthy();
    expect(location.hash).toBe('#/vms/prod/tailvm/web-1/manifest');
  });

  test('moves a VM to a folder, which is created when it does not exist', async () => {
    service.on('GET /api/folders', { folders: [{ path: 'prod', parent: null, counts: {} }], errors: {} });
    service.on('POST /api/folders', { path: 'test/new' });
    service.on('POST /api/folders/members', { path: 'test/new', ref: web.ref });
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    const folder = within(screen.getByRole('region', { name: 'Folder' }));
    expect(folder.getByText('None')).toBeTruthy();
    await user.type(folder.getByRole('combobox', { name: 'New folder' }), 'test/new');
    await user.click(folder.getByRole('button', { name: 'Assign' }));
    expect(await screen.findByText('web-1 is in the folder test/new now')).toBeTruthy();
    expect(service.asked('POST /api/folders').map(({ body }) => body)).toEqual([{ path: 'test/new' }]);
    await user.type(folder.getByRole('combobox', { name: 'New folder' }), 'prod');
    await user.click(folder.getByRole('button', { name: 'Assign' }));
    await screen.findByText('web-1 is in the folder prod now');
    expect(service.asked('POST /api/folders')).toHaveLength(1);
    expect(service.asked('POST /api/folders/members').map(({ body }) => body)).toEqual([
      { path: 'test/new', ref: web.ref },
      { path: 'prod', ref: web.ref },
    ]);
  });

  test('takes a VM out of its folder', async () => {
    service.on('DELETE /api/folders/members', { status: 'unfoldered', ref: web.ref });
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [{ ...web, folder: 'prod' }], service);
    const folder = within(screen.getByRole('region', { name: 'Folder' }));
    expect(folder.getByText('prod')).toBeTruthy();
    await user.click(folder.getByRole('button', { name: 'Remove' }));
    expect(await screen.findByText('web-1 is in no folder now')).toBeTruthy();
    expect(service.asked('DELETE /api/folders/members').map(({ query }) => query.get('ref'))).toEqual([web.ref]);
  });

  test('shows the events of the cluster and the actions of users', async () => {
    service.on('GET /api/vms/tailvm/web-1/events', [
      {
        time: '2026-01-02T00:00:00.000Z',
        type: 'Normal',
        reason: 'start',
        object: web.ref,
        message: '',
        source: 'service',
        caller: 'ann',
      },
      {
        time: '2026-01-01T00:00:00.000Z',
        type: 'Warning',
        reason: 'FailedScheduling',
        object: 'Pod/virt-launcher-web-1',
        message: 'No node has enough memory.',
        source: 'cluster',
      },
    ]);
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(screen.getByRole('tab', { name: 'Events' }));
    const [, first, second] = within(await screen.findByRole('table', { name: 'Events' })).getAllByRole('row');
    expect(first?.textContent).toMatch(/start.*ann/);
    expect(second?.textContent).toMatch(
      /WarningFailedScheduling.*No node has enough memory.*Pod\/virt-launcher-web-1.*Cluster/,
    );
    expect(location.hash).toBe('#/vms/prod/tailvm/web-1/events');
  });

  test('reports an unknown VM', async () => {
    await openConsole('/vms/prod/tailvm/ghost', [web], service);
    expect(screen.getByRole('heading', { name: 'VM ghost not found' })).toBeTruthy();
  });

  test('has the focus on its heading after the navigation, and the list on its table', async () => {
    const { user } = await openConsole('/vms', [web], service);
    await user.click(screen.getByRole('link', { name: 'web-1' }));
    const heading = await screen.findByRole('heading', { name: 'web-1' });
    await waitFor(() => expect(document.activeElement).toBe(heading));
    await user.click(screen.getByRole('tab', { name: 'Overview' }));
    expect(document.activeElement).toBe(screen.getByRole('tab', { name: 'Overview' }));
    await user.click(screen.getByRole('link', { name: 'Back to virtual machines' }));
    await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('grid')));
  });

  test('finds a VM in a context with slashes in its name', async () => {
    const far = buildVm({ name: 'far', context: 'admin@eu/west:1' });
    const { user } = await openConsole('/vms', [far], service);
    await user.click(screen.getByRole('link', { name: 'far' }));
    expect(await screen.findByRole('heading', { name: 'far' })).toBeTruthy();
  });
});

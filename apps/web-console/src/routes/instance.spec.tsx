import { screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext, buildSingleMachine } from '../testing/build-capabilities.js';
import { buildTask } from '../testing/build-task.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole, type OpenConsole } from '../testing/render-console.js';

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
  const panel = (name: string | RegExp) => within(screen.getByRole('complementary', { name }));
  /** Opens the menu, and returns an action in it. */
  const inMenu = async ({ user }: Pick<OpenConsole, 'user'>, name: string | RegExp): Promise<HTMLElement> => {
    await user.click(power().getByRole('button', { name: 'More actions' }));
    return screen.getByRole('menuitem', { name });
  };
  /** Answers dry runs with a plan. */
  const planned = (request: string, answer: object = { status: 'ok' }): void =>
    void service.on(request, ({ query }: MockRequest) => ({ body: query.get('dryRun') ? PLAN : answer }));

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
    const opened = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    const start = await inMenu(opened, 'Start');
    expect(start.getAttribute('aria-disabled')).toBe('true');
    expect(document.getElementById(start.getAttribute('aria-describedby') ?? '')?.textContent).toBe(
      'Only a stopped VM can be started. Its state is "Running".',
    );
    expect(power().getByRole('button', { name: 'Shut down' }).getAttribute('aria-disabled')).toBeNull();
  });

  test('shuts down gracefully or forcibly, each after a confirmation', async () => {
    planned('POST /api/vms/tailvm/web-1/stop');
    const opened = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    const { user } = opened;
    const real = () => service.asked('POST /api/vms/tailvm/web-1/stop').filter(({ query }) => !query.has('dryRun'));
    await user.click(power().getByRole('button', { name: 'Shut down' }));
    const confirm = async (name: string) => {
      await panel(name).findByRole('region', { name: 'Planned changes' });
      await user.click(panel(name).getByRole('button', { name }));
    };
    await confirm('Shut down web-1');
    expect(await screen.findByText('web-1 is shutting down')).toBeTruthy();
    await user.click(await inMenu(opened, 'Force stop…'));
    await confirm('Force stop web-1');
    await waitFor(() => expect(real().map(({ query }) => query.get('force'))).toEqual([null, 'true']));
  });

  test('shows the error of the service when an action fails', async () => {
    service.on('POST /api/vms/tailvm/web-1/pause', ({ query }: MockRequest) =>
      query.get('dryRun')
        ? { body: PLAN }
        : { status: 409, body: { error: 'web-1 is migrating; wait until it is done.', code: 'BUSY' } },
    );
    const opened = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    const { user } = opened;
    await user.click(await inMenu(opened, 'Pause…'));
    await panel('Pause web-1').findByRole('region', { name: 'Planned changes' });
    expect(service.asked('POST /api/vms/tailvm/web-1/pause').map(({ query }) => query.get('dryRun'))).toEqual(['true']);
    await user.click(panel('Pause web-1').getByRole('button', { name: 'Pause web-1' }));
    expect(await screen.findByText('web-1 is migrating; wait until it is done.')).toBeTruthy();
  });

  test('migrates to a chosen node', async () => {
    service.on(
      'GET /api/nodes',
      ['node-1', 'node-2'].map((name) => ({ name, ready: true, roles: '', kubelet: '', arch: '', context: 'prod' })),
    );
    planned('POST /api/vms/tailvm/web-1/migrate', { task: 'migrate-web-1-1', status: 'ok' });
    service.on(
      'GET /api/tasks/migrate-web-1-1',
      buildTask({ id: 'migrate-web-1-1', kind: 'migrate', ref: web.ref, status: 'done' }),
    );
    const opened = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    const { user } = opened;
    await user.click(await inMenu(opened, 'Migrate…'));
    const dialog = panel(/Migrate web-1/);
    await dialog.findByRole('option', { name: 'node-2' });
    expect(dialog.queryByRole('option', { name: 'node-1' })).toBeNull();
    await user.selectOptions(dialog.getByRole('combobox'), 'node-2');
    await dialog.findByRole('region', { name: 'Planned changes' });
    await user.click(dialog.getByRole('button', { name: 'Migrate web-1' }));
    expect(await screen.findByText('web-1 is migrating')).toBeTruthy();
    const sent = service
      .asked('POST /api/vms/tailvm/web-1/migrate')
      .map(({ query, body }) => [query.get('dryRun'), body]);
    expect(sent).toEqual([
      ['true', {}],
      ['true', { targetNode: 'node-2' }],
      [null, { targetNode: 'node-2' }],
    ]);
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
    planned('POST /api/vms/tailvm/web-1/migrate');
    const opened = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    const { user } = opened;
    await user.click(await inMenu(opened, 'Migrate…'));
    const dialog = panel(/Migrate web-1/);
    await dialog.findByRole('option', { name: 'rack-7 (rack-7.example)' });
    const options = dialog.getAllByRole<HTMLOptionElement>('option');
    expect(options.map(({ value }) => value)).toEqual(['', 'rack-7']);
  });

  test('disables migration when the context lacks it', async () => {
    const abilities = { power: true, migration: 'A single machine has nowhere to migrate to.' } as const;
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ abilities })]));
    const opened = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    expect((await inMenu(opened, 'Migrate…')).getAttribute('aria-disabled')).toBe('true');
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
    const opened = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    const { user, receive } = opened;
    await user.click(await inMenu(opened, 'Delete…'));
    const dialog = panel(/Delete web-1/);
    expect(await dialog.findByText('web-1-root')).toBeTruthy();
    expect(dialog.getByText(/The existing volume data is kept/)).toBeTruthy();
    const button = dialog.getByRole<HTMLButtonElement>('button', { name: 'Delete web-1' });
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
    const opened = await openConsole('/vms/prod/tailvm/web-1', [buildStoppedVm()], service);
    const { user } = opened;
    await user.click(await inMenu(opened, 'Delete…'));
    const dialog = panel(/Delete web-1/);
    expect(await dialog.findByText(/Remove the protection first/)).toBeTruthy();
    expect(dialog.queryByRole('textbox')).toBeNull();
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Delete web-1' }).disabled).toBe(true);
  });

  test('shows the planned changes with the focus on them, and confirms them with Enter', async () => {
    service.on('DELETE /api/vms/tailvm/web-1', ({ query }: { query: URLSearchParams }) => ({
      body: query.get('dryRun') ? PLAN : { status: 'deleted' },
    }));
    const opened = await openConsole('/vms/prod/tailvm/web-1', [buildStoppedVm()], service);
    const { user } = opened;
    await user.click(await inMenu(opened, 'Delete…'));
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

  test('shows the changes of the last day, newest first, with their probable causes', async () => {
    const { ref } = web;
    service.on('GET /api/vms/tailvm/web-1/events', []);
    service.on('GET /api/ext/changes', [
      { time: '2026-01-01T00:00:00.000Z', type: 'gap', since: '2025-12-31T23:00:00.000Z' },
      { time: '2026-01-01T01:00:00.000Z', type: 'changed', ref, before: { status: 'Running', ip: '10.0.0.7' }, after: { status: 'Stopped' }, cause: { by: 'outside' } }, // prettier-ignore
      { time: '2026-01-01T02:00:00.000Z', type: 'changed', ref, before: { tags: [] }, after: { tags: ['db'] }, cause: { by: 'action', action: 'add tag db', caller: 'ann' } }, // prettier-ignore
      { time: '2026-01-01T03:00:00.000Z', type: 'changed', ref, before: {}, after: { status: 'Migrating' }, cause: { by: 'task', action: 'migrate', caller: 'bob', task: 'migrate-web-1' } }, // prettier-ignore
    ]);
    await openConsole('/vms/prod/tailvm/web-1/events', [web], service);
    const table = within(await screen.findByRole('table', { name: 'Changes' }));
    const [, ...rows] = table.getAllByRole('row').map(({ textContent }) => textContent);
    expect(rows).toEqual([
      expect.stringMatching(/status: – → Migratingmigrate \(bob\)$/),
      expect.stringMatching(/tags: – → dbadd tag db \(ann\)$/),
      expect.stringMatching(/status: Running → Stoppedip: 10.0.0.7 → –Outside of Headgate$/),
      expect.stringMatching(/Nothing was recorded since/),
    ]);
    expect(table.getByRole('link').getAttribute('href')).toBe('#/tasks/migrate-web-1');
    expect(service.asked('GET /api/ext/changes').map(({ query }) => query.get('ref'))).toEqual([ref]);
  });

  test('says why there are no changes when their recording is switched off', async () => {
    service.on('GET /api/vms/tailvm/web-1/events', []);
    const error = 'The history of the fleet is switched off in the configuration: history.record is false.';
    service.on('GET /api/ext/changes', () => ({ status: 501, body: { error, code: 'NOT_SUPPORTED' } }));
    await openConsole('/vms/prod/tailvm/web-1/events', [web], service);
    expect(await screen.findByText(error)).toBeTruthy();
  });

  test('reports an unknown VM', async () => {
    await openConsole('/vms/prod/tailvm/ghost', [web], service);
    expect(screen.getByRole('heading', { name: 'VM ghost not found' })).toBeTruthy();
  });

  test('has the focus on its heading after the navigation, and the list on its table', async () => {
    const { user } = await openConsole('/vms', [web], service);
    await user.dblClick(screen.getByRole('link', { name: 'web-1' }));
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
    await user.dblClick(screen.getByRole('link', { name: 'far' }));
    expect(await screen.findByRole('heading', { name: 'far' })).toBeTruthy();
  });
});

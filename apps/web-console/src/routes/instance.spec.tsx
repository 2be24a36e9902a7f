import { screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const PLAN = {
  steps: [{ name: 'Remove the boot disk', detail: 'web-1-root' }],
  warnings: ['The volume data was given and stays.'],
  refusals: [],
};

describe('the page of one instance', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1' });
  const power = () => within(screen.getByRole('toolbar', { name: 'Power of web-1' }));

  test('tells everything that is known', async () => {
    await openConsole(
      '/vms/prod/tailvm/web-1',
      [{ ...web, reason: 'Something is odd.', restartRequired: true }],
      service,
    );
    expect(screen.getByRole('heading', { name: 'web-1' })).toBeTruthy();
    expect(screen.getByRole('region', { name: 'Hardware' }).textContent).toContain('4 GiB');
    expect(screen.getByRole('region', { name: 'Guest' }).textContent).toContain('10.0.0.7');
    expect(screen.getByText('Something is odd.')).toBeTruthy();
    expect(screen.getByText('A restart is needed')).toBeTruthy();
  });

  test('greys out what makes no sense now, and says why', async () => {
    await openConsole('/vms/prod/tailvm/web-1', [web], service);
    const start = power().getByRole('button', { name: /^Start/ });
    expect(start.getAttribute('aria-disabled')).toBe('true');
    expect(document.getElementById(start.getAttribute('aria-describedby') ?? '')?.textContent).toBe(
      'It is not stopped but Running.',
    );
    expect(power().getByRole('button', { name: 'Shut down' }).getAttribute('aria-disabled')).toBeNull();
  });

  test('shuts down gracefully or pulls the plug, each only after a question', async () => {
    service.on('POST /api/vms/tailvm/web-1/stop', { status: 'ok' });
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Shut down' }));
    const asked = (name: string | RegExp) =>
      within(screen.getByRole('dialog', { name })).getByRole('button', { name: /^(Shut|Force)/ });
    await user.click(asked('Shut down: web-1?'));
    expect(await screen.findByText('web-1 was asked to shut down')).toBeTruthy();
    await user.click(power().getByRole('button', { name: 'Force stop' }));
    await user.click(asked(/Force stop: web-1/));
    await waitFor(() =>
      expect(service.asked('POST /api/vms/tailvm/web-1/stop').map(({ query }) => query.get('force'))).toEqual([
        null,
        'true',
      ]),
    );
  });

  test('says in the words of the service why an action was refused', async () => {
    service.fails('POST /api/vms/tailvm/web-1/pause', 409, 'web-1 is migrating; wait until it has arrived.');
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Pause' }));
    expect(await screen.findByText('web-1 is migrating; wait until it has arrived.')).toBeTruthy();
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
    service.fails('GET /api/tasks/migrate-web-1-1', 404, 'There is no such task.');
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

  test('greys out the migration where the context has none', async () => {
    const abilities = { power: true, migration: 'A single machine has nowhere to migrate to.' } as const;
    service.on('GET /api/capabilities', buildCapabilities([buildContext({ abilities })]));
    await openConsole('/vms/prod/tailvm/web-1', [web], service);
    expect(await screen.findByText('A single machine has nowhere to migrate to.')).toBeTruthy();
  });

  test('adds and removes tags, and takes a removal back', async () => {
    service.on('POST /api/vms/tailvm/web-1/tags', ({ body }: { body: unknown }) => ({ body }));
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [{ ...web, tags: ['old'] }], service);
    await user.type(screen.getByRole('textbox', { name: 'New tag' }), 'new{Enter}');
    await user.click(screen.getByRole('button', { name: 'Remove the tag old' }));
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

  test('deletes a running one only after its name was typed, and says what goes and what stays', async () => {
    service.on('DELETE /api/vms/tailvm/web-1', ({ query }: { query: URLSearchParams }) => ({
      body: query.get('dryRun') ? PLAN : { status: 'deleted' },
    }));
    const { user, hears } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(power().getByRole('button', { name: 'Delete' }));
    const dialog = within(screen.getByRole('dialog', { name: /Delete web-1/ }));
    expect(await dialog.findByText('web-1-root')).toBeTruthy();
    expect(dialog.getByText(/The volume data was given and stays/)).toBeTruthy();
    const button = dialog.getByRole<HTMLButtonElement>('button', { name: 'Delete' });
    expect(button.disabled).toBe(true);
    await user.type(dialog.getByRole('textbox', { name: 'Type web-1 to confirm' }), 'web-1');
    await user.click(button);
    expect(await screen.findByText('web-1 was deleted')).toBeTruthy();
    await hears(() => service.stream.emit('removed', { ref: web.ref }));
    expect(location.hash).toBe('#/vms');
  });

  test('deletes a stopped one without typing, but never against a refusal', async () => {
    service.on('DELETE /api/vms/tailvm/web-1', {
      ...PLAN,
      refusals: [{ code: 'PROTECTED', reason: 'web-1 is protected.', remedy: 'Take the protection away first.' }],
    });
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [buildStoppedVm()], service);
    await user.click(power().getByRole('button', { name: 'Delete' }));
    const dialog = within(screen.getByRole('dialog', { name: /Delete web-1/ }));
    expect(await dialog.findByText(/Take the protection away first/)).toBeTruthy();
    expect(dialog.queryByRole('textbox')).toBeNull();
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Delete' }).disabled).toBe(true);
  });

  test('shows the manifest', async () => {
    service.on('GET /api/vms/tailvm/web-1', { kind: 'VirtualMachine', spec: { running: true } });
    const { user } = await openConsole('/vms/prod/tailvm/web-1', [web], service);
    await user.click(screen.getByRole('tab', { name: 'Manifest' }));
    expect(await screen.findByText('"VirtualMachine"')).toBeTruthy();
    expect(location.hash).toBe('#/vms/prod/tailvm/web-1/manifest');
  });

  test('says that there is no such instance', async () => {
    await openConsole('/vms/prod/tailvm/nobody', [web], service);
    expect(screen.getByRole('heading', { name: 'There is no instance nobody' })).toBeTruthy();
  });

  test('finds one in a context whose name has slashes', async () => {
    const far = buildVm({ name: 'far', context: 'admin@eu/west:1' });
    const { user } = await openConsole('/vms', [far], service);
    await user.click(screen.getByRole('link', { name: 'far' }));
    expect(await screen.findByRole('heading', { name: 'far' })).toBeTruthy();
  });
});

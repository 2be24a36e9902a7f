import type { ContainerView } from '@headgate/api-contracts';
import { screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';

let service: MockService;
beforeEach(() => (service = givenService()));
afterEach(() => closeConsole(service));

describe('the containers', () => {
  const shell = {
    name: 'shell-1',
    namespace: 'tailvm',
    node: 'node-1',
    phase: 'Running',
    ready: true,
    image: 'debian:12',
    cpu: 1,
    mem: '512Mi',
    privileged: false,
    ref: 'ct/prod/tailvm/shell-1',
    context: 'prod',
    backend: 'kubevirt',
    tags: [],
  } as const satisfies ContainerView;

  test('have a page only when a context supports them', async () => {
    service.on(
      'GET /api/capabilities',
      buildCapabilities([buildContext({ abilities: { containers: 'libvirt has no containers.' } })]),
    );
    await openConsole('/vms', [buildVm()], service);
    expect(await screen.findByText('prod up')).toBeTruthy();
    expect(screen.queryByRole('link', { name: 'Containers' })).toBeNull();
  });

  test('are listed, stopped, and created', async () => {
    service.on('POST /api/cts/tailvm/shell-1/stop', ({ query }: { query: URLSearchParams }) => ({
      body: query.get('dryRun') ? { steps: [], warnings: [], refusals: [] } : { status: 'ok' },
    }));
    service.on('POST /api/cts', () => ({
      status: 201,
      body: { name: 'new', namespace: 'tailvm', ref: 'ct/prod/tailvm/new' },
    }));
    const { user, receive } = await openConsole('/containers', [], service);
    await receive(() => service.listInStream('cts').snapshot([shell]));
    await user.click(await screen.findByRole('button', { name: 'Stop shell-1' }));
    expect(screen.getByRole(...PANEL).textContent).toContain('tailvm in prod');
    await screen.findByRole('region', { name: 'Planned changes' });
    await user.keyboard('{Enter}');
    expect(await screen.findByText('shell-1 is stopping')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Create container' }));
    const dialog = within(screen.getByRole('form', { name: 'Create container' }));
    await user.type(dialog.getByRole('textbox', { name: 'Name' }), 'new');
    await user.type(dialog.getByRole('textbox', { name: 'Image' }), 'debian:12');
    await user.type(dialog.getByRole('textbox', { name: 'Folder' }), 'web/shells');
    await user.click(dialog.getByRole('button', { name: 'Create new' }));
    expect(await screen.findByText('new was created')).toBeTruthy();
    expect(service.asked('POST /api/cts')[0]?.body).toEqual({
      name: 'new',
      image: 'debian:12',
      context: 'prod',
      folder: 'web/shells',
      cpu: 1,
      mem: '512Mi',
      disk: '5Gi',
      privileged: false,
    });
  });

  test('are stopped together only after the user typed their number', async () => {
    service.on('POST /api/ext/bulk', ({ query }: { query: URLSearchParams }) =>
      query.get('dryRun') === 'true'
        ? { body: { steps: [], warnings: [], refusals: [] } }
        : { status: 409, body: { error: 'shell-1 is busy.', code: 'BUSY' } },
    );
    const { user, receive } = await openConsole('/containers', [], service);
    await receive(() => service.listInStream('cts').snapshot([shell]));
    await user.click(await screen.findByRole('checkbox', { name: 'Select all shown' }));
    await user.click(within(screen.getByRole('toolbar', { name: /selected/ })).getByRole('button', { name: 'Stop' }));
    const dialog = within(screen.getByRole(...PANEL));
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Stop 1 container' }).disabled).toBe(true);
    await user.type(await dialog.findByRole('textbox', { name: 'Type 1 to confirm' }), '1{Enter}');
    // The panel of the progress has taken the place of this one meanwhile.
    expect(await screen.findByText('shell-1 is busy.')).toBeTruthy();
  });

  test('have a shell that receives the size of its window', async () => {
    const { receive } = await openConsole('/containers/prod/tailvm/shell-1/terminal', [], service);
    await receive(() => service.listInStream('cts').snapshot([shell]));
    await screen.findByRole('region', { name: 'Shell in shell-1' });
    await waitFor(() => expect(service.sockets).toHaveLength(1));
    expect(service.socket.url).toBe('ws://localhost/api/tty/tailvm/shell-1?context=prod&kind=ct');
    await receive(() => service.socket.open());
    expect(service.socket.sent).toEqual(['{"resize":{"columns":80,"rows":24}}']);
    await receive(() => service.socket.close('', 1000));
    expect(await screen.findByText('Ended')).toBeTruthy();
    expect(screen.getByRole('button', { name: 'New shell' })).toBeTruthy();
  });
});

test('the key "?" shows the keyboard shortcuts', async () => {
  const { user } = await openConsole('/vms', [buildVm()], service);
  await user.keyboard('?');
  expect(screen.getByRole('dialog', { name: 'Keyboard shortcuts' }).textContent).toContain('Ctrl+A');
});

test('the title of the tab names the page', async () => {
  await openConsole('/vms/prod/tailvm/web-1', [buildVm()], service);
  expect(document.title).toBe('web-1 (Running) - Headgate');
});

test.each([
  [{ name: 'Ada Lovelace', login: 'ada@example.org' }, 'a', 'Signed in as ada@example.org'],
  [{ name: '', login: '@bob:example.org' }, 'b', 'Signed in as @bob:example.org'],
  [{ name: '𝒵oe', login: 'zoe' }, '𝒵', 'Signed in as zoe'],
  [{ name: 'E\u0301va', login: 'eva' }, 'e\u0301', 'Signed in as eva'],
  [{ name: '', login: '' }, '?', 'Not signed in: the service received no identity headers.'],
])('the header has the first letter of the caller %j: %s', async (caller, letter, title) => {
  service.on('GET /api/whoami', { ...caller, admin: true, enforced: false });
  await openConsole('/vms', [buildVm()], service);
  await waitFor(() => expect(document.querySelector('.hg-caller-letter')?.textContent).toBe(letter));
  expect(document.querySelector('.hg-caller')?.getAttribute('title')).toBe(title);
});

test('the theme switches between three values and is remembered', async () => {
  const { user } = await openConsole('/vms', [buildVm()], service);
  const dark = () => document.documentElement.dataset['theme'] === 'dark';
  await user.click(screen.getByRole('button', { name: /^Theme: system/ }));
  await user.click(screen.getByRole('button', { name: /^Theme: light/ }));
  await waitFor(() => expect(dark()).toBe(true));
  expect(localStorage.getItem('headgate.theme')).toBe('"dark"');
  await user.click(screen.getByRole('button', { name: /^Theme: dark/ }));
  expect(dark()).toBe(false);
});

test('an unknown path leads to the list of VMs', async () => {
  await openConsole('/nowhere', [buildVm()], service);
  await waitFor(() => expect(location.hash).toBe('#/vms'));
});

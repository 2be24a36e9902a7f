import { screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const GUEST = {
  os: { hostname: 'web', id: 'debian', name: 'Debian', prettyName: 'Debian 12', version: '12', kernel: '6.1.0' },
  users: [],
  filesystems: [],
};

describe('the actions in a guest', () => {
  let service: MockService;
  beforeEach(() => (service = givenService().on('GET /api/vms/tailvm/web-1/guestinfo', GUEST)));
  afterEach(() => closeConsole(service));
  const open = () => openConsole('/vms/prod/tailvm/web-1/guest', [buildVm({ name: 'web-1' })], service);

  test('set a password, which leaves the page once it is set', async () => {
    service.on('POST /api/ext/guest/password', { status: 'ok' });
    const { user } = await open();
    const form = within(await screen.findByRole('region', { name: 'Set password' }));
    await user.type(form.getByLabelText('Account'), 'root');
    await user.type(form.getByLabelText('New password'), 'S3cret');
    await user.click(form.getByRole('button', { name: 'Set password' }));
    expect(await screen.findByText('The password of root was set')).toBeTruthy();
    expect(service.asked('POST /api/ext/guest/password')[0]?.body).toMatchObject({ user: 'root', password: 'S3cret' });
    expect((form.getByLabelText('New password') as HTMLInputElement).value).toBe('');
  });

  test('run a program and show its output', async () => {
    service.on('POST /api/ext/guest/command', { exitCode: 2, stdout: 'one\n', stderr: 'two\n', isTruncated: true });
    const { user } = await open();
    const form = within(await screen.findByRole('region', { name: 'Run program' }));
    await user.type(form.getByLabelText('Program and arguments'), '/bin/df -h /');
    await user.click(form.getByRole('button', { name: 'Run' }));
    expect((await form.findByLabelText('Output')).textContent).toBe('one\ntwo\n');
    expect(form.getByRole('status').textContent).toBe('Exit code 2, the output is cut');
    expect(service.asked('POST /api/ext/guest/command')[0]?.body).toMatchObject({ path: '/bin/df', args: ['-h', '/'] });
  });

  test('are explained where the backend has none', async () => {
    const context = buildContext({ abilities: { guestControl: 'KubeVirt passes no commands.' } });
    service.on('GET /api/capabilities', buildCapabilities([context]));
    await open();
    expect(await screen.findByText('KubeVirt passes no commands.')).toBeTruthy();
  });
});

describe('the guest of a VM', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  test('is shown with its system, users and file systems', async () => {
    service.on('GET /api/vms/tailvm/web-1/guestinfo', {
      os: { hostname: 'web', id: 'debian', name: 'Debian', prettyName: 'Debian 12', version: '12', kernel: '6.1.0' },
      users: [{ name: 'ann', loginTime: null }],
      filesystems: [{ disk: 'vda1', mountPoint: '/', type: 'ext4', usedBytes: 1024 ** 3, totalBytes: null }],
    });
    await openConsole('/vms/prod/tailvm/web-1/guest', [buildVm({ name: 'web-1' })], service);
    expect((await screen.findByRole('region', { name: 'System' })).textContent).toContain('Debian 12');
    expect(screen.getByRole('region', { name: 'Users' }).textContent).toContain('ann');
    const [, row] = within(screen.getByRole('table', { name: 'File systems' })).getAllByRole('row');
    expect(row?.textContent).toBe('/vda1ext41 GiBUnknown');
  });

  test('says why nothing is known about it', async () => {
    service.on('GET /api/vms/tailvm/web-1/guestinfo', () => ({
      status: 503,
      body: { error: 'The guest agent of web-1 does not answer.', code: 'GUEST_AGENT_UNREACHABLE' },
    }));
    await openConsole('/vms/prod/tailvm/web-1/guest', [buildVm({ name: 'web-1' })], service);
    expect(await screen.findByText('The guest agent of web-1 does not answer.')).toBeTruthy();
  });
});

describe('the export of a disk', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  test('is offered in two formats for a stopped VM', async () => {
    await openConsole('/vms/prod/tailvm/web-1', [buildStoppedVm({ name: 'web-1' })], service);
    const links = within(screen.getByRole('region', { name: 'Export' })).getAllByRole('link');
    expect(links.map((link) => link.getAttribute('href'))).toEqual([
      '/api/vms/tailvm/web-1/export?context=prod',
      '/api/vms/tailvm/web-1/export?context=prod&format=qcow2',
    ]);
  });

  test('says that a running VM has to be stopped', async () => {
    await openConsole('/vms/prod/tailvm/web-1', [buildVm({ name: 'web-1' })], service);
    expect(screen.getByRole('region', { name: 'Export' }).textContent).toContain('or export it with a checkpoint');
  });

  test('mentions no checkpoints where the backend has none', async () => {
    const context = buildContext({ abilities: { backups: 'This cluster has no checkpoints.' } });
    service.on('GET /api/capabilities', buildCapabilities([context]));
    await openConsole('/vms/prod/tailvm/web-1', [buildVm({ name: 'web-1' })], service);
    await waitFor(() =>
      expect(screen.getByRole('region', { name: 'Export' }).textContent).toBe('ExportStop the VM to export its disk.'),
    );
  });
});

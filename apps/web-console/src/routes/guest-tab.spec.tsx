import { screen, within } from '@testing-library/react';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

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
    expect(screen.getByRole('region', { name: 'Export' }).textContent).toContain('Stop the VM');
  });
});

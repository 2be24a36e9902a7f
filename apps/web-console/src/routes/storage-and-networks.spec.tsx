import { screen, within } from '@testing-library/react';
import { buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const GIB = 1024 ** 3;
const WEB = { ref: 'vm/prod/tailvm/web-1', kind: 'vm', namespace: 'tailvm', name: 'web-1' };
const POOL = {
  name: 'images',
  context: 'rack-7',
  kind: 'pool',
  type: 'dir',
  default: true,
  active: true,
  capacityBytes: 100 * GIB,
  allocatedBytes: 90 * GIB,
  freeBytes: 10 * GIB,
  volumes: 12,
  canExpand: true,
  modes: [],
  segments: [],
  users: [],
  hiddenUsers: 3,
};
const CLASS = {
  ...POOL,
  name: 'ceph',
  context: 'prod',
  kind: 'class',
  type: 'rbd.csi.ceph.com',
  default: false,
  capacityBytes: null,
  allocatedBytes: 40 * GIB,
  freeBytes: null,
  spaceUnknown: 'No CSIStorageCapacity reports it.',
  modes: [{ accessMode: 'ReadWriteMany', volumeMode: 'Block' }],
  users: [WEB],
  hiddenUsers: 0,
};
const NETWORK = {
  namespace: 'tailvm',
  name: 'lan',
  ref: 'tailvm/lan',
  context: 'prod',
  mode: 'bridge',
  bridge: 'br1',
  active: true,
  addresses: ['192.168.1.1/24'],
  dhcp: [{ start: '192.168.1.10', end: '192.168.1.99' }],
  users: [WEB],
  hiddenUsers: 0,
};

let service: MockService;
beforeEach(() => {
  service = givenService();
  service.on('GET /api/ext/storage', [POOL, CLASS]);
  service.on('GET /api/ext/networks', [
    NETWORK,
    { ...NETWORK, name: 'old', ref: 'tailvm/old', active: false, users: [] },
  ]);
});
afterEach(() => closeConsole(service));

test('the storage page shows the space where it is known, and says where it is not', async () => {
  await openConsole('/storage', [], service);
  expect((await screen.findByRole('row', { name: /images/ })).textContent).toBe(
    'imagesPool, defaultdir90 GiB of 100 GiB10 GiB123rack-7',
  );
  expect(screen.getByRole('row', { name: /ceph/ }).textContent).toBe('cephClassrbd.csi.ceph.com40 GiBUnknown121prod');
  expect(screen.getByRole('row', { name: /images/ }).querySelector('.hg-meter-bar--danger')).toBeTruthy();
});

test('the details of a storage have its modes, its users, and why the space is unknown', async () => {
  const { user } = await openConsole('/storage', [], service);
  await user.click(await screen.findByRole('button', { name: 'ceph' }));
  const details = within(await screen.findByRole('complementary', { name: 'Details of ceph' }));
  expect(details.getByText('ReadWriteMany, Block')).toBeTruthy();
  expect(details.getByText('No CSIStorageCapacity reports it.')).toBeTruthy();
  expect(details.getByRole('link', { name: 'web-1' }).getAttribute('href')).toBe('#/vms/prod/tailvm/web-1/overview');
  await user.keyboard('k');
  const pool = within(await screen.findByRole('complementary', { name: 'Details of images' }));
  expect(pool.getByText('3 that you may not see')).toBeTruthy();
});

test('the networks page shows the definition of each network, and its users', async () => {
  const { user } = await openConsole('/networks', [], service);
  expect((await screen.findByRole('row', { name: /lan/ })).textContent).toBe(
    'lantailvmActivebridgebr1192.168.1.1/241prod',
  );
  expect(screen.getByRole('row', { name: /old/ }).textContent).toContain('Not active');
  await user.click(screen.getByRole('button', { name: 'lan' }));
  const details = within(await screen.findByRole('complementary', { name: 'Details of lan' }));
  expect(details.getByText('192.168.1.10 to 192.168.1.99')).toBeTruthy();
  expect(details.getByRole('link', { name: 'web-1' })).toBeTruthy();
});

describe('G and a letter', () => {
  test.each([
    ['gs', '#/storage'],
    ['gw', '#/networks'],
    ['gm', '#/vms'],
  ])('goes to a page: %s', async (keys, hash) => {
    const { user } = await openConsole('/storage', [buildVm()], service);
    await screen.findByRole('row', { name: /images/ });
    await user.keyboard(keys);
    expect(location.hash).toBe(hash);
  });

  test('does not shut down the VM that is peeked at', async () => {
    const { user } = await openConsole('/vms', [buildVm()], service);
    await user.click(await screen.findByText('web-1', { selector: '.hg-row *' }));
    await user.keyboard('gs');
    expect(location.hash).toBe('#/storage');
    expect(screen.queryByText('Nothing has happened yet.')).toBeNull();
    expect(service.requests.every(({ method }) => method === 'GET')).toBe(true);
  });
});

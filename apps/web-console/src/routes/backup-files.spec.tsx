import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import { buildStoppedVm } from '../testing/build-vm.js';
import type { MockRequest, MockService } from '../testing/mock-service.js';
import { PANEL } from '../testing/panel.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const NIGHTLY = '/api/ext/backups/targets/feed000000000001';
const ID = 'a'.repeat(64);
const FILES = `${NIGHTLY}/points/${ID}/files`;
const SESSION = '3f1c9a52-6a53-4a5c-9a53-0d8f3a1c9a52';
const ROOT = [
  { name: 'etc', kind: 'folder', sizeBytes: 0, mode: 0o755, modifiedAt: '2026-01-01T00:00:00.000Z' },
  { name: 'bad%FF name', kind: 'file', sizeBytes: 3, mode: 0o644, modifiedAt: '2026-01-01T00:00:00.000Z' },
  { name: 'link', kind: 'link', sizeBytes: 0, mode: 0o777, target: '/etc' },
  { name: 'pipe', kind: 'other', sizeBytes: 0, mode: 0o644 },
];
const HOSTS = { name: 'hosts', kind: 'file', sizeBytes: 2048, mode: 0o644, modifiedAt: '2026-01-01T00:00:00.000Z' };

let service: MockService;
beforeEach(() => {
  service = givenService();
  service.on(
    'GET /api/capabilities',
    buildCapabilities([buildContext({ abilities: { backupSource: true, diskFiles: true, bootProof: true } })]),
  );
  service.on('GET /api/ext/backups/targets', [
    { id: 'feed000000000001', name: 'nightly', kind: 'directory', path: '/mnt', createdAt: '2026-01-01T00:00:00Z' },
  ]);
  service.on(`GET ${NIGHTLY}/state`, { state: 'ready', points: 1, usedBytes: 1, freeBytes: 1 });
  service.on(`GET ${NIGHTLY}/points`, [
    {
      id: ID,
      time: '2026-01-02T01:30:00.000Z',
      ref: 'vm/prod/tailvm/web-1',
      uid: 'uid-web-1',
      consistency: 'frozen',
      sizeBytes: 8 * 1024 ** 3,
    },
  ]);
  service.on(`POST ${FILES}`, {
    session: SESSION,
    idleSeconds: 600,
    volumes: [
      { number: 0, disk: 'vda', name: 'vda1', fileSystem: 'ext4', label: 'root', sizeBytes: 1024 ** 3 },
      {
        number: 1,
        disk: 'vda',
        name: 'vda2',
        fileSystem: 'luks',
        label: '',
        sizeBytes: 1024 ** 3,
        problem: 'It is encrypted with LUKS.',
      },
    ],
  });
  service.on(`DELETE ${FILES}/${SESSION}`, { status: 'closed' });
  service.on(`GET ${FILES}/${SESSION}/entries`, ({ query }: MockRequest) => ({
    body:
      query.get('path') === '/etc'
        ? { total: 1, isCut: false, entries: [HOSTS] }
        : { total: 4, isCut: false, entries: ROOT },
  }));
});
afterEach(() => closeConsole(service));

const panel = () => within(screen.getByRole(...PANEL));
const browse = async (): Promise<void> => {
  await openConsole('/backups', [], service);
  fireEvent.click(await screen.findByRole('button', { name: /^Browse the files in the backup of web-1/ }));
  expect(service.asked(`POST ${FILES}`)).toEqual([]);
  fireEvent.click(panel().getByRole('button', { name: 'Open the files' }));
  await panel().findByText('4 entries');
};

describe('the files of a backup', () => {
  test('are opened on request, shown by folder, and linked as downloads', async () => {
    await browse();
    expect(service.asked(`POST ${FILES}`)[0]?.body).toEqual({ context: 'prod' });
    const files = within(panel().getByRole('table', { name: 'Files' }));
    expect(files.getByText('link → /etc')).toBeTruthy();
    expect(files.getByText('Device, socket or pipe')).toBeTruthy();
    expect(files.getAllByRole('link')).toHaveLength(1);
    const odd = files.getByRole('link', { name: 'Download bad%FF name' });
    expect(odd.getAttribute('href')).toBe(`${FILES}/${SESSION}/content?volume=0&path=%2Fbad%25FF+name`);
    expect(odd.hasAttribute('download')).toBe(true);

    fireEvent.click(files.getByRole('button', { name: 'etc/' }));
    await panel().findByText('1 entry');
    const hosts = panel().getByRole('link', { name: 'Download hosts' });
    expect(hosts.getAttribute('href')).toBe(`${FILES}/${SESSION}/content?volume=0&path=%2Fetc%2Fhosts`);
    const folder = panel().getByRole('link', { name: 'Download this folder (tar)' });
    expect(folder.getAttribute('href')).toBe(`${FILES}/${SESSION}/archive?volume=0&path=%2Fetc`);
    fireEvent.click(panel().getByRole('button', { name: 'Top folder' }));
    await panel().findByText('4 entries');
  });

  test('of a volume that can not be read are replaced by the reason', async () => {
    await browse();
    fireEvent.change(panel().getByRole('combobox', { name: 'Volume' }), { target: { value: '1' } });
    expect(panel().getByText('It is encrypted with LUKS.').getAttribute('lang')).toBe('en');
    expect(panel().queryByRole('table')).toBeNull();
  });

  test('are closed with the panel, and a failure is shown', async () => {
    await browse();
    fireEvent.click(panel().getAllByRole('button', { name: 'Close' })[0]!);
    await waitFor(() => expect(service.asked(`DELETE ${FILES}/${SESSION}`)).toHaveLength(1));
    service.fails(`POST ${FILES}`, 409, 'prod has no memory free.', 'WRONG_STATE');
    fireEvent.click(await screen.findByRole('button', { name: /^Browse the files in the backup of web-1/ }));
    fireEvent.click(panel().getByRole('button', { name: 'Open the files' }));
    await panel().findByText('prod has no memory free.');
  });
});

describe('the files of a stopped VM', () => {
  const OF_VM = '/api/ext/vms/tailvm/web-1/files';
  const openVm = () => openConsole('/vms/prod/tailvm/web-1', [buildStoppedVm({ name: 'web-1' })], service);

  test('are opened next to its export, and closed with the panel', async () => {
    const context = buildContext({ abilities: { diskExport: true, diskFiles: true, backupSource: true } });
    service.on('GET /api/capabilities', buildCapabilities([context]));
    service.on(`POST ${OF_VM}`, {
      session: SESSION,
      idleSeconds: 600,
      volumes: [{ number: 0, disk: 'vda', name: 'vda', fileSystem: 'ntfs', label: '', sizeBytes: 1024 ** 3 }],
    });
    service.on(`GET ${OF_VM}/${SESSION}/entries`, { total: 1, isCut: false, entries: [HOSTS] });
    service.on(`DELETE ${OF_VM}/${SESSION}`, { status: 'closed' });
    await openVm();
    fireEvent.click(await screen.findByRole('button', { name: 'Browse the files…' }));
    fireEvent.click(panel().getByRole('button', { name: 'Open the files' }));
    const hosts = await panel().findByRole('link', { name: 'Download hosts' });
    expect(hosts.getAttribute('href')).toBe(`${OF_VM}/${SESSION}/content?volume=0&path=%2Fhosts&context=prod`);
    expect(service.asked(`POST ${OF_VM}`)[0]?.query.get('context')).toBe('prod');
    fireEvent.click(panel().getAllByRole('button', { name: 'Close' })[0]!);
    await waitFor(() => expect(service.asked(`DELETE ${OF_VM}/${SESSION}`)).toHaveLength(1));
  });

  test('are not offered where the backend reads no files', async () => {
    const context = buildContext({ abilities: { diskExport: true, diskFiles: 'No files are read in clusters.' } });
    service.on('GET /api/capabilities', buildCapabilities([context]));
    await openVm();
    await screen.findByRole('region', { name: 'Export' });
    expect(screen.queryByRole('button', { name: 'Browse the files…' })).toBeNull();
  });
});

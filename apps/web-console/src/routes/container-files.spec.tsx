import type { ContainerView, FileEntryView } from '@headgate/api-contracts';
import { screen, within } from '@testing-library/react';
import { buildCapabilities, buildContext } from '../testing/build-capabilities.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const FILES = '/api/ext/cts/tailvm/box/files';
const ENTRIES = `GET ${FILES}/entries`;
const box: ContainerView = {
  name: 'box',
  namespace: 'tailvm',
  node: 'node-1',
  phase: 'Running',
  ready: true,
  image: 'debian:12',
  cpu: 1,
  mem: '512Mi',
  privileged: false,
  ref: 'ct/prod/tailvm/box',
  context: 'prod',
  backend: 'kubevirt',
  tags: [],
};
const entry = (name: string, kind: FileEntryView['kind'], more: Partial<FileEntryView> = {}): FileEntryView => ({
  name,
  kind,
  sizeBytes: 0,
  mode: 0o644,
  ...more,
});
const ROOT = {
  total: 4,
  isCut: true,
  entries: [
    entry('<img src=x>', 'file', { sizeBytes: 12 }),
    entry('bin', 'link', { target: 'usr/bin', targetKind: 'folder' }),
    entry('broken', 'link', { target: 'nowhere' }),
    entry('queue', 'other'),
  ],
};

describe('the files of a container', () => {
  let service: MockService;

  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const open = async (container: ContainerView = box) => {
    const opened = await openConsole('/containers/prod/tailvm/box/files', [], service);
    await opened.receive(() => service.listInStream('cts').snapshot([container]));
    return opened;
  };

  test('are shown by folder, also through links, and linked as downloads', async () => {
    service.on(ENTRIES, ROOT);
    const { user } = await open();
    expect(await screen.findByText(/4 entries · The folder has more entries/)).toBeTruthy();
    const table = within(screen.getByRole('table', { name: 'Files' }));
    expect(table.getByText('broken → nowhere')).toBeTruthy();
    expect(table.getByText('Device, socket or pipe')).toBeTruthy();
    const links = table.getAllByRole('link');
    expect(links.map((link) => link.getAttribute('href'))).toEqual([
      `${FILES}/content?path=%2F%3Cimg+src%3Dx%3E&context=prod`,
    ]);
    expect(document.querySelector('#main img')).toBeNull();
    expect(screen.queryByText('Download this folder (tar)')).toBeNull();
    service.on(ENTRIES, { total: 0, isCut: false, entries: [] });
    await user.click(table.getByRole('button', { name: 'bin → usr/bin' }));
    expect(await screen.findByText('This folder is empty.')).toBeTruthy();
    expect(service.asked(ENTRIES).at(-1)?.query.get('path')).toBe('/bin');
  });

  test('that can not be read are replaced by the reason of the service', async () => {
    service.fails(ENTRIES, 501, 'It has no program stat.', 'NOT_SUPPORTED');
    await open();
    expect(await screen.findByText(/It has no program stat\./)).toBeTruthy();
  });

  test('of a stopped container are not asked for', async () => {
    await open({ ...box, phase: 'Stopped' });
    expect(await screen.findByText('No files')).toBeTruthy();
    expect(service.asked(ENTRIES)).toEqual([]);
  });

  test('are replaced by the reason where the context reads none', async () => {
    const reason = 'Incus and LXD read a pipe like a file.';
    service.on(
      'GET /api/capabilities',
      buildCapabilities([buildContext({ containerAbilities: { containerFiles: reason } })]),
    );
    await open();
    expect(await screen.findByText(reason)).toBeTruthy();
    expect(service.asked(ENTRIES)).toEqual([]);
  });
});

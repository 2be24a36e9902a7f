import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileEntryView } from '@headgate/api-contracts';
import { FakeService } from '../testing/fake-service.js';
import { containerView, vmView } from '../testing/instances.js';
import { Cli, Recorder } from '../testing/run-cli.js';

const SESSION = '3f1c9a52-6a53-4a5c-9a53-0d8f3a1c9a52';
const FILES = '/api/ext/vms/default/web-1/files';
const POINT = 'ab'.repeat(32);
const POINT_FILES = `/api/ext/backups/targets/feed000000000001/points/${POINT}/files`;
const CONTENT = Buffer.from('\x1b]0;title\x07bytes\0');
const entry = (name: string, more: Partial<FileEntryView> = {}): FileEntryView => ({
  name,
  kind: 'file',
  sizeBytes: 2048,
  mode: 0o644,
  modifiedAt: '2026-01-02T01:30:00.000Z',
  ...more,
});

describe('headgate files', () => {
  let service: FakeService;
  let cli: Cli;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cli-files-'));
    service = await FakeService.open();
    cli = new Cli({ HEADGATE_SERVER: service.url });
    service.json('GET /api/vms', [vmView()]).json('GET /api/cts', []);
    const volume = { number: 0, disk: 'vda', name: 'vda1', fileSystem: 'ext4', label: 'root', sizeBytes: 1024 ** 3 };
    const locked = { ...volume, number: 1, name: 'vda2', fileSystem: 'luks', label: '', problem: 'It is encrypted.' };
    const session = { session: SESSION, idleSeconds: 600, volumes: [volume, locked] };
    service.json(`POST ${FILES}`, session).json(`POST ${POINT_FILES}`, session);
  });
  afterEach(async () => {
    await service.close();
    cli.remove();
    rmSync(folder, { recursive: true });
  });

  const send = (content: Buffer) =>
    service.on(`GET ${FILES}/${SESSION}/content`, (response) => response.writeHead(200).end(content));
  const bodies = () => service.requests.filter(({ method }) => method === 'POST').map(({ body }) => body);

  test('list shows the volumes of a VM, also of a snapshot', async () => {
    const { code, stdout } = await cli.run(['files', 'list', 'web-1']);
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.replace(/ +/g, ' '))).toEqual([
      'VOLUME DISK NAME CONTENT LABEL SIZE PROBLEM',
      '0 vda vda1 ext4 root 1 GiB -',
      '1 vda vda2 luks - 1 GiB It is encrypted.',
      '',
    ]);
    await cli.run(['files', 'list', 'web-1', '--snapshot', 'before']);
    expect(bodies()).toEqual([{}, { snapshot: 'before' }]);
    expect(service.lines.at(-1)).toBe(`POST ${FILES}?context=lab`);
  });

  test('list reads all pages of a folder, and names can not control the terminal', async () => {
    const total = 1001;
    service.on(`GET ${FILES}/${SESSION}/entries`, (response, { url }) => {
      const query = new URL(url, service.url).searchParams;
      expect([query.get('volume'), query.get('path'), query.get('context')]).toEqual(['0', '/etc', 'lab']);
      const entries =
        query.get('skip') === '0'
          ? Array.from({ length: 1000 }, (_, index) => entry(`file-${index}`))
          : [entry('a\x1b[2J', { kind: 'link', mode: 0o777, target: '/b' })];
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ total, isCut: true, entries }));
    });
    const { code, stdout, stderr } = await cli.run(['files', 'ls', 'web-1', '0', '/etc']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'The folder has more entries than the service lists.\n' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(total + 1);
    expect(lines.at(-1)?.replace(/ +/g, ' ')).toBe('0777 link - 2026-01-02T01:30:00.000Z a\\x1b[2J -> /b');
  });

  test('get saves a file for its user only, under its name or another one', async () => {
    send(CONTENT);
    const file = join(folder, 'saved');
    expect(await cli.json(['files', 'get', 'web-1', '0', '/root/.ssh/id', '--to', file])).toEqual({
      file,
      bytes: CONTENT.length,
    });
    expect(readFileSync(file)).toEqual(CONTENT);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const query = new URLSearchParams({ context: 'lab', volume: '0', path: '/root/.ssh/id' });
    expect(service.lines.at(-1)).toBe(`GET ${FILES}/${SESSION}/content?${query}`);
  });

  test('get never replaces a file', async () => {
    send(CONTENT);
    const file = join(folder, 'precious');
    writeFileSync(file, 'mine');
    const { code, stderr } = await cli.run(['files', 'get', 'web-1', '0', '/a', '--to', file]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `headgate: ${file} can't be written: it exists. Choose another one with --to. (FILE_NOT_WRITTEN)\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test('get leaves nothing of a file whose download breaks off', async () => {
    service.on(`GET ${FILES}/${SESSION}/content`, (response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('half', () => response.destroy());
    });
    const { code, stderr } = await cli.run(['files', 'get', 'web-1', '0', '/a', '--to', join(folder, 'a')]);
    expect(code).toBe(6);
    expect(stderr).toContain('(SERVICE_UNREACHABLE)');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('get writes to a program, but not to a terminal', async () => {
    send(CONTENT);
    const { code, stdout } = await cli.run(['files', 'get', 'web-1', '0', '/a', '--to', '-']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: CONTENT.toString() });
    const terminal = Object.assign(new Recorder(), { isTTY: true });
    const refused = await cli.run(['files', 'get', 'web-1', '0', '/a', '--to', '-'], { stdout: terminal });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
  });

  test('get reads a backup, and a folder as an archive', async () => {
    const target = { id: 'feed000000000001', name: 'nightly', kind: 'directory', createdAt: '2026-01-01T00:00:00Z' };
    service.json('GET /api/ext/backups/targets', [target]);
    const point = { id: POINT, time: '2026-01-01T02:00:00Z', ref: 'vm/lab/default/web-1', uid: 'u', sizeBytes: 1 };
    service.json(`GET /api/ext/backups/targets/${target.id}/points`, [{ ...point, consistency: 'frozen' }]);
    service.on(`GET ${POINT_FILES}/${SESSION}/archive`, (response) => response.writeHead(200).end('tar'));
    const file = join(folder, 'etc.tar');
    const line = ['files', 'get', 'backup:ababab', '0', '/etc', '--archive', '--to', file];
    expect((await cli.run(line)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('tar');
    expect(bodies()).toEqual([{ context: 'lab' }]);
    await cli.run(['files', 'list', 'backup:ababab', '--on', 'prod']);
    expect(bodies().at(-1)).toEqual({ context: 'prod' });
  });

  describe('of a container', () => {
    const BOX = '/api/ext/cts/default/box-1/files';
    beforeEach(() => void service.json('GET /api/vms', []).json('GET /api/cts', [containerView()]));

    test('are listed and saved without a volume, and without a session', async () => {
      service.json(`GET ${BOX}/entries`, { total: 1, isCut: false, entries: [entry('hostname')] });
      service.on(`GET ${BOX}/content`, (response) => response.writeHead(200).end('box-1\n'));
      expect(await cli.json(['files', 'list', 'box-1'])).toMatchObject([{ name: 'hostname' }]);
      expect(await cli.json(['files', 'list', 'box-1', '/etc'])).toHaveLength(1);
      const { code, stdout } = await cli.run(['files', 'get', 'box-1', '/etc/hostname', '--to', '-']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'box-1\n' });
      const paths = service.requests.filter(({ url }) => url.startsWith(BOX)).map(({ url }) => url);
      expect(paths.map((url) => new URL(url, service.url).searchParams.get('path'))).toEqual([
        '/',
        '/etc',
        '/etc/hostname',
      ]);
      expect(bodies()).toEqual([]);
    });

    test.each([
      ['files', 'get', 'box-1', '0', '/a'],
      ['files', 'get', 'box-1', '/a', '--archive'],
      ['files', 'list', 'box-1', '--snapshot', 'before'],
    ])('have neither volumes, archives nor snapshots: %s %s %s %s %s', async (...args) => {
      expect(await cli.run(args)).toMatchObject({ code: 2, stdout: '' });
      expect(service.lines.filter((line) => line.includes(BOX))).toEqual([]);
    });
  });

  test.each([
    ['files', 'get', 'web-1', 'one', '/a'],
    ['files', 'get', 'web-1', '/a'],
    ['files', 'get', 'web-1', '0', '/a', '/b'],
    ['files', 'get', 'web-1', '0', '/a/..'],
    ['files', 'list', 'web-1', '-1'],
    ['files', 'list', 'backup:ab'],
    ['files', 'list', 'backup:ababab', '--snapshot', 'before'],
    ['files', 'list', 'web-1', '--target', 'nightly'],
  ])('refuses %s %s %s %s %s', async (...args) => {
    expect(await cli.run(args)).toMatchObject({ code: 2, stdout: '' });
    expect(bodies()).toEqual([]);
    expect(existsSync('a')).toBe(false);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isVm, type BackupSource, type DiskFiles } from '@headgate/domain-contracts';
import { DirectoryTarget, ResticRepository } from '@headgate/restic-repository';
import { MemoryBackend, type MemoryBackupSource, type MemoryDiskFiles } from '@headgate/testing';
import { Edge, type Reply } from '../testing/edge.js';

const TARGETS = '/api/ext/backups/targets';
const PASSWORD = 'correct horse battery';
const MIB = 1024 ** 2;
const ANN = { 'tailscale-user-login': 'ann' };
const EVE = { 'tailscale-user-login': 'eve' };
const BOB = { 'tailscale-user-login': 'bob' };
const VM = '/api/ext/vms/default/web';

describe('files', () => {
  let edge: Edge;
  let allowed: string;
  let files: MemoryDiskFiles;
  let reading: MemoryBackupSource;
  let isClosed = false;

  beforeEach(async () => {
    allowed = mkdtempSync(join(tmpdir(), 'headgate-files-'));
    edge = new Edge(new MemoryBackend('lab'));
    for (const known of edge.lab.engine.all())
      if (isVm(known)) edge.lab.engine.put({ ...known, diskBytes: 4 * MIB, status: 'Stopped' });
    const file = join(edge.folder, 'headgate.yaml');
    writeFileSync(file, `admins: [ann, eve]\nbackups: { folders: [${JSON.stringify(allowed)}] }\n`);
    await edge.open({}, ['--config', file]);
    files = edge.lab.require('diskFiles') as DiskFiles as MemoryDiskFiles;
    reading = edge.lab.require('backupSource') as BackupSource as MemoryBackupSource;
    files.files = new Map([
      ['/etc/hosts', Buffer.from('127.0.0.1 localhost\n')],
      ['/etc/bad%FF"name', Buffer.from('odd')],
      ['/index.html', Buffer.from('<script>alert(1)</script>')],
    ]);
  });
  afterEach(async () => {
    if (!isClosed) await edge.close();
    isClosed = false;
    rmSync(allowed, { recursive: true });
  });

  const send = (method: string, to: string, body?: unknown, as: Record<string, string> = ANN): Promise<Reply> =>
    edge.send(method, to, body, as);
  const ended = async (task: unknown): Promise<Reply['json']> => {
    for (;;) {
      const { json } = await send('GET', `/api/tasks/${String(task)}`);
      if (json['status'] !== 'running') return json;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const until = async (isMet: () => boolean): Promise<void> => {
    while (!isMet()) await new Promise((resolve) => setImmediate(resolve));
  };
  /** @returns the path of the point */
  const backedUp = async (): Promise<string> => {
    const repository = join(allowed, 'repository');
    await ResticRepository.create(new DirectoryTarget(repository), PASSWORD, { scrypt: { n: 2, r: 1, p: 1 } });
    const body = { name: 'nightly', kind: 'directory', path: repository, password: PASSWORD };
    const target = String((await send('POST', TARGETS, body)).json['id']);
    const { json } = await send('POST', '/api/ext/vms/default/db/backup?context=lab', { target });
    expect((await ended(json['task']))['status']).toBe('done');
    const [point] = JSON.parse((await send('GET', `${TARGETS}/${target}/points`)).body) as { id: string }[];
    return `${TARGETS}/${target}/points/${String(point?.id)}`;
  };
  const open = async (path: string, body: unknown = {}): Promise<string> => {
    const { status, json } = await send('POST', `${path}/files`, body);
    expect([status, json.error]).toEqual([200, undefined]);
    return `${path}/files/${String(json['session'])}`;
  };
  const journal = async (): Promise<string[]> => {
    const entries = JSON.parse((await send('GET', '/api/ext/journal?limit=50')).body) as {
      action: string;
      ref: string;
      message: string;
    }[];
    return entries.map(({ action, ref, message }) => `${action} ${ref} ${message}`);
  };

  test('of a backup are opened, listed and downloaded, and its repository is free again', async () => {
    const path = await backedUp();
    const planned = await send('POST', `${path}/files?dryRun=true`, { context: 'lab' });
    expect((planned.json['steps'] as { name: string }[]).map(({ name }) => name)).toEqual(['open']);
    expect(files.opened).toEqual([]);

    const session = await open(path, { context: 'lab' });
    expect(files.opened).toMatchObject([{ disks: [{ sizeBytes: 4 * MIB }] }]);
    expect((await send('GET', session)).json).toMatchObject({
      idleSeconds: 600,
      volumes: [{ number: 0, fileSystem: 'ext4', sizeBytes: 4 * MIB }],
    });
    const root = await send('GET', `${session}/entries?volume=0`);
    expect(root.json).toMatchObject({ total: 2, isCut: false });
    const page = await send('GET', `${session}/entries?volume=0&path=/etc&skip=1&limit=1`);
    expect(page.json).toMatchObject({ total: 2, entries: [{ name: 'hosts', kind: 'file', sizeBytes: 20 }] });
    const hosts = await send('GET', `${session}/content?volume=0&path=/etc/hosts`);
    expect([hosts.status, hosts.body]).toEqual([200, '127.0.0.1 localhost\n']);
    const tar = await send('GET', `${session}/archive?volume=0&path=/etc`);
    expect([tar.status, tar.headers['content-type']]).toEqual([200, 'application/x-tar']);
    expect(tar.headers['content-disposition']).toContain('filename="etc.tar"');
    // A second request returns the same session.
    expect(await open(path, { context: 'lab' })).toBe(session);
    expect((await send('DELETE', `${session}?dryRun=true`)).json['steps']).toHaveLength(1);
    expect(files.sessions.size).toBe(1);
    expect((await send('DELETE', session)).json).toEqual({ status: 'closed' });
    expect((await send('GET', session)).json['code']).toBe('FILE_SESSION_NOT_FOUND');
    expect(files.sessions.size).toBe(0);
    const cleaned = await send('POST', path.replace(/\/points.*/, '/clean'), { keep: { last: 1 } });
    expect((await ended(cleaned.json['task']))['status']).toBe('done');
  });

  test('of a snapshot are opened while the VM runs, and keep the snapshot from being deleted', async () => {
    reading.saved = new Map([['monday', Buffer.alloc(MIB)]]);
    await send('POST', '/api/vms/default/web/snapshots', { name: 'monday' });
    expect((await send('POST', '/api/vms/default/web/start')).status).toBe(200);
    const session = await open(VM, { snapshot: 'monday' });
    expect(files.opened).toMatchObject([{ disks: [{ name: 'vda', sizeBytes: MIB }] }]);
    expect((await send('GET', `${session}/content?volume=0&path=/etc/hosts`)).status).toBe(200);
    expect((await send('POST', '/api/vms/default/web/stop')).status).toBe(200);
    expect((await send('DELETE', '/api/vms/default/web/snapshots/monday')).json['code']).toBe('BUSY');
    expect((await send('POST', `${VM}/files`, { snapshot: 'tuesday' })).json['code']).toBe('SNAPSHOT_NOT_FOUND');
    expect(await journal()).toContainEqual('open files vm/lab/default/web of its snapshot monday');
    await send('DELETE', session);
    await until(() => reading.openReadings === 0);
    expect((await send('DELETE', '/api/vms/default/web/snapshots/monday')).status).toBe(200);
  });

  test('of strangers are sent as attachments that no browser shows', async () => {
    const session = await open(VM);
    const page = await send('GET', `${session}/content?volume=0&path=/index.html`);
    expect(page.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="index.html"; filename*=UTF-8''index.html`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'content-length': '25',
    });
    const odd = await send('GET', `${session}/content?volume=0&path=${encodeURIComponent('/etc/bad%FF"name')}`);
    expect([odd.status, odd.body]).toEqual([200, 'odd']);
    expect(odd.headers['content-disposition']).toContain('filename="bad_FF_name"');
  });

  test('of a VM keep it from starting until they are closed, and each download is in the journal', async () => {
    const session = await open(VM);
    expect(reading.openReadings).toBe(1);
    const started = await send('POST', '/api/vms/default/web/start');
    expect([started.status, started.json['code']]).toEqual([409, 'BUSY']);
    await send('GET', `${session}/content?volume=0&path=//etc//hosts`);
    await send('GET', `${session}/content?volume=0&path=/none`);
    await send('GET', `${session}/archive?volume=0&path=/etc`);
    await send('DELETE', session);
    await until(() => reading.openReadings === 0);
    expect((await send('POST', '/api/vms/default/web/start')).status).toBe(200);
    const lines = (await journal()).filter((line) => / files? | folder /.test(line));
    expect(lines.reverse()).toEqual([
      'open files vm/lab/default/web ',
      expect.stringMatching(/^download file vm\/lab\/default\/web \/etc\/hosts on /),
      expect.stringMatching(/^download file vm\/lab\/default\/web There is no such file/),
      expect.stringMatching(/^download folder vm\/lab\/default\/web \/etc on /),
      'close files vm/lab/default/web ',
    ]);
    // It runs now.
    expect((await send('POST', `${VM}/files`, {})).json['code']).toBe('WRONG_STATE');
    expect(reading.openReadings).toBe(0);
  });

  test('are for those who may export or restore, and a session is for its user and its disks only', async () => {
    const path = await backedUp();
    const [ofBackup, ofVm] = [await open(path, { context: 'lab' }), await open(VM)];
    for (const session of [ofBackup, ofVm])
      for (const part of ['', '/entries?volume=0', '/content?volume=0&path=/etc/hosts', '/archive?volume=0']) {
        expect((await send('GET', `${session}${part}`, undefined, BOB)).json['code']).toBe('NOT_PERMITTED');
        expect((await send('GET', `${session}${part}`, undefined, EVE)).json['code']).toBe('FILE_SESSION_NOT_FOUND');
      }
    expect((await send('POST', `${VM}/files`, {}, BOB)).json['code']).toBe('NOT_PERMITTED');
    expect((await send('POST', `${path}/files`, { context: 'lab' }, BOB)).json['code']).toBe('NOT_PERMITTED');
    expect((await send('DELETE', ofVm, undefined, EVE)).json['code']).toBe('FILE_SESSION_NOT_FOUND');
    const other = ofVm.replace('/web/', '/db/');
    expect((await send('GET', `${other}/entries?volume=0`)).json['code']).toBe('FILE_SESSION_NOT_FOUND');
    expect(files.sessions.size).toBe(2);
  });

  test('are refused upwards, in volumes that are not there, and with odd queries', async () => {
    const session = await open(VM);
    const codeOf = async (query: string): Promise<unknown> =>
      (await send('GET', `${session}/content?${query}`)).json['code'];
    expect(await codeOf('volume=0&path=/../../etc/passwd')).toBe('INVALID_INPUT');
    expect(await codeOf('volume=0&path=/%252e%252e/etc')).toBe('INVALID_INPUT');
    expect(await codeOf('volume=0&path=/a%2500')).toBe('INVALID_INPUT');
    expect(await codeOf('volume=0&path=/100%25')).toBe('INVALID_INPUT');
    expect(await codeOf('volume=7&path=/etc/hosts')).toBe('FILE_NOT_FOUND');
    expect(await codeOf('volume=-1&path=/')).toBe('INVALID_INPUT');
    expect(await codeOf('path=/')).toBe('INVALID_INPUT');
    expect((await send('GET', `${session}/entries?volume=0&limit=1001`)).status).toBe(400);
    expect((await send('GET', `${VM}/files/../../x/entries?volume=0`)).status).toBe(404);
  });

  test('of a damaged backup are not opened, and leave nothing open', async () => {
    const path = await backedUp();
    const failing = files.open.bind(files);
    files.open = async (spec, signal) => {
      await failing(spec, signal).then((opened) => opened.close());
      throw new Error('blob 1234 is damaged');
    };
    expect((await send('POST', `${path}/files`, { context: 'lab' })).status).toBe(500);
    expect((await send('POST', `${VM}/files`, {})).status).toBe(500);
    expect([files.sessions.size, reading.openReadings]).toEqual([0, 0]);
    expect((await send('POST', '/api/vms/default/web/start')).status).toBe(200);
  });

  test('are closed when the service stops', async () => {
    await open(VM);
    await edge.close();
    isClosed = true;
    expect([files.sessions.size, reading.openReadings]).toEqual([0, 0]);
  });
});

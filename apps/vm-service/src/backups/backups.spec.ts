import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackedUp } from '@headgate/backups';
import { isVm, type BackupSource } from '@headgate/domain-contracts';
import { DirectoryTarget, ResticRepository } from '@headgate/restic-repository';
import { buildVm, MemoryBackend, MemoryBackupSource, withStatus } from '@headgate/testing';
import { pino } from 'pino';
import { Edge, type Reply } from '../testing/edge.js';

const TARGETS = '/api/ext/backups/targets';
const PASSWORD = 'correct horse battery';
/** Of all VMs: the first backup reads all of it. */
const DISK_BYTES = 8 * 1024 ** 2;
const ANN = { 'tailscale-user-login': 'ann' };
const VERA = { 'tailscale-user-login': 'vera' };

/** One test derives a real key, which takes a processor and its time. */
const TIMEOUT_MS = 180_000;

describe('backups', () => {
  let edge: Edge;
  let allowed: string;
  let source: MemoryBackupSource;
  const lines: string[] = [];

  beforeEach(async () => {
    allowed = mkdtempSync(join(tmpdir(), 'headgate-backups-'));
    edge = new Edge(new MemoryBackend('lab'));
    for (const known of edge.lab.engine.all())
      if (isVm(known)) edge.lab.engine.put({ ...known, diskBytes: DISK_BYTES });
    lines.length = 0;
    edge.log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }) as typeof edge.log;
    const file = join(edge.folder, 'headgate.yaml');
    const roles = '[{ login: vera, folder: prod, role: viewer }, { login: oscar, folder: prod, role: operator }]';
    writeFileSync(file, `admins: [ann]\nroles: ${roles}\nbackups: { folders: [${JSON.stringify(allowed)}] }\n`);
    await edge.open({}, ['--config', file]);
    source = edge.lab.require('backupSource') as MemoryBackupSource & BackupSource;
  });

  afterEach(async () => {
    await edge.close();
    rmSync(allowed, { recursive: true });
  });

  const send = (method: string, path: string, body?: unknown, headers = ANN): Promise<Reply> =>
    edge.send(method, path, body, headers);
  const add = (path: string, password = PASSWORD, name = 'nightly'): Promise<Reply> =>
    send('POST', TARGETS, { name, kind: 'directory', path, password });
  /** With a repository whose key costs nothing: each request opens it. */
  const target = async (): Promise<string> => {
    const path = join(allowed, 'repository');
    await ResticRepository.create(new DirectoryTarget(path), PASSWORD, { scrypt: { n: 2, r: 1, p: 1 } });
    const { status, json } = await add(path);
    expect([status, json.error]).toEqual([201, undefined]);
    return String(json['id']);
  };
  const ended = async (task: unknown): Promise<Reply['json']> => {
    for (;;) {
      const { json } = await send('GET', `/api/tasks/${String(task)}`);
      if (json['status'] !== 'running') return json;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const run = async (path: string, body: unknown): Promise<Reply['json']> => {
    const { status, json } = await send('POST', path, body);
    expect([status, json.error]).toEqual([202, undefined]);
    return ended(json['task']);
  };
  const backUp = (id: string, name = 'db'): Promise<Reply['json']> =>
    run(`/api/ext/vms/default/${name}/backup?context=lab`, { target: id });
  const points = async (id: string, headers = ANN): Promise<Record<string, unknown>[]> =>
    JSON.parse((await send('GET', `${TARGETS}/${id}/points`, undefined, headers)).body) as Record<string, unknown>[];

  test(
    'are made of a VM that runs, listed, and restored as a new VM with the same disk',
    async () => {
      const added = await add(join(allowed, 'repository'));
      expect([added.status, added.json.error]).toEqual([201, undefined]);
      const id = String(added.json['id']);
      const done = await backUp(id);
      expect(done).toMatchObject({ status: 'done', result: { consistency: 'frozen' } });
      const [point] = await points(id);
      expect(point).toMatchObject({ ref: 'vm/lab/default/db', consistency: 'frozen' });
      const restore = `${TARGETS}/${id}/points/${String(point?.['id'])}/restore`;
      const plan = await send('POST', `${restore}?dryRun=true`, { context: 'lab', namespace: 'default', name: 'db' });
      expect(plan.json['refusals']).toMatchObject([{ code: 'ALREADY_EXISTS' }]);
      const taken = await send('POST', restore, { context: 'lab', namespace: 'default', name: 'db' });
      expect([taken.status, taken.json.code]).toEqual([409, 'ALREADY_EXISTS']);
      const restored = await run(restore, { context: 'lab', namespace: 'default', name: 'db-two' });
      expect(restored).toMatchObject({ status: 'done', result: { destination: 'vm/lab/default/db-two' } });
      const atOnce = { context: 'lab', namespace: 'default', name: 'db-now', instant: true };
      const rehearsed = await send('POST', `${restore}?dryRun=true`, atOnce);
      expect(String(rehearsed.json['warnings'])).toMatch(/Until 8Mi are copied, db-now reads from nightly/);
      const now = await run(restore, atOnce);
      expect(now).toMatchObject({ kind: 'instant-restore', status: 'done', result: { copiedBytes: DISK_BYTES } });
      const ref = { kind: 'vm', context: 'lab', namespace: 'default', name: 'db-now' } as const;
      expect(edge.lab.engine.vm(ref).status).toBe('Running');
      const disk = edge.lab.engine.disks.get('vm/lab/default/db-two vda') ?? Buffer.alloc(0);
      expect(disk.subarray(1024, 1026).toString()).toBe('db');
      expect(edge.lab.engine.vm({ kind: 'vm', context: 'lab', namespace: 'default', name: 'db-two' }).status).toBe(
        'Stopped',
      );
      expect(await run(`${TARGETS}/${id}/check`, { readData: true })).toMatchObject({ status: 'done' });
    },
    TIMEOUT_MS,
  );

  test(
    'are restored in place and as an additional disk of a stopped VM, and never over another one',
    async () => {
      const id = await target();
      await backUp(id);
      const [point] = await points(id);
      const { engine } = edge.lab;
      const [ref, db] = [
        'vm/lab/default/db',
        { kind: 'vm', context: 'lab', namespace: 'default', name: 'db' } as const,
      ];
      const [replace, addDisks] = ['replace-disks', 'add-disks'].map(
        (route) => `${TARGETS}/${id}/points/${String(point?.['id'])}/${route}`,
      ) as [string, string];
      const running = await send('POST', `${replace}?dryRun=true`, { ref });
      expect(running.json['refusals']).toMatchObject([{ code: 'WRONG_STATE' }]);
      engine.put({ ...engine.vm(db), status: 'Stopped' });
      engine.disks.set(`${ref} vda`, Buffer.from('written later'));
      const plan = await send('POST', `${replace}?dryRun=true`, { ref });
      expect([plan.json['refusals'], plan.status]).toEqual([[], 200]);
      expect(plan.json['warnings']).toEqual(expect.arrayContaining([expect.stringMatching(/vda.* lost/)]));
      const more = await send('POST', `${addDisks}?dryRun=true`, { ref });
      expect([more.json['refusals'], more.json['warnings']]).toEqual([
        [],
        [expect.stringMatching(/IDs of file systems/)],
      ]);
      expect(await run(addDisks, { ref, disks: ['vda'] })).toMatchObject({ status: 'done', result: { ref } });
      expect(engine.disks.get(`${ref} vda`)?.toString()).toBe('written later');
      expect(engine.disks.get(`${ref} vdb`)?.subarray(1024, 1026).toString()).toBe('db');
      expect(await run(replace, { ref, disks: ['vda'] })).toMatchObject({ status: 'done', result: { disks: ['vda'] } });
      expect(engine.disks.get(`${ref} vda`)?.subarray(1024, 1026).toString()).toBe('db');
      const codes: unknown[] = [];
      for (const body of [
        { ref, disks: ['vdz'] },
        { ref, disks: [] },
        { ref: 'ct/lab/default/db' },
        { ref: 'vm/lab/default/none' },
      ])
        codes.push((await send('POST', replace, body)).json.code);
      expect(codes).toEqual(['DEVICE_NOT_FOUND', 'INVALID_INPUT', expect.anything(), 'INSTANCE_NOT_FOUND']);
      engine.remove(db);
      engine.put(buildVm({ ref: db, uid: 'another', backend: engine.kind }));
      engine.disks.set(`${ref} vda`, Buffer.from('of another VM'));
      const other = await send('POST', replace, { ref });
      expect([other.status, other.json.code]).toEqual([409, 'WRONG_STATE']);
      expect(engine.disks.get(`${ref} vda`)?.toString()).toBe('of another VM');
    },
    TIMEOUT_MS,
  );

  test(
    'read only changes the second time, and keep what rules want, but never nothing',
    async () => {
      const id = await target();
      await backUp(id);
      const second = await backUp(id);
      // The manifest is written each time.
      expect(second).toMatchObject({ status: 'done', result: { sizeBytes: DISK_BYTES } });
      expect((second['result'] as BackedUp).readBytes).toBeLessThan(4096);
      const [newest] = await points(id);
      const clean = `${TARGETS}/${id}/clean`;
      const none = await send('POST', clean, { keep: {} });
      expect([none.status, none.json.code]).toEqual([400, 'INVALID_INPUT']);
      expect(await run(clean, { keep: { last: 1 } })).toMatchObject({ status: 'done', result: { deleted: 1 } });
      expect((await points(id)).map((point) => point['id'])).toEqual([newest?.['id']]);
      const last = await send('DELETE', `${TARGETS}/${id}/points/${String(newest?.['id'])}?dryRun=true`);
      expect(last.json['warnings']).toEqual([expect.stringMatching(/newest/)]);
      expect((await send('DELETE', `${TARGETS}/${id}/points/${String(newest?.['id'])}`)).status).toBe(200);
      expect(await points(id)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'never show the password, in no answer and no log, and store it once',
    async () => {
      const id = await target();
      const answers = [
        await send('GET', TARGETS),
        await add(join(allowed, 'repository')),
        await add(join(allowed, 'repository'), 'another password', 'second'),
        await send('GET', '/api/ext/journal'),
      ];
      await backUp(id);
      for (const { body } of answers) expect(body).not.toMatch(/correct horse|another password/);
      expect(lines.join('\n')).not.toMatch(/correct horse|another password/);
      expect(readFileSync('/proc/self/cmdline', 'utf8')).not.toContain(PASSWORD);
    },
    TIMEOUT_MS,
  );

  test(
    'are refused at paths that no folder allows, or that a link leads to',
    async () => {
      const outside = mkdtempSync(join(tmpdir(), 'headgate-outside-'));
      symlinkSync(outside, join(allowed, 'link'));
      writeFileSync(join(allowed, 'file'), '');
      for (const path of [
        outside,
        join(allowed, 'link'),
        join(allowed, 'link', 'deep'),
        join(allowed, 'file'),
        join(allowed, 'file', 'deep'),
        `${allowed}/../${outside.slice(outside.lastIndexOf('/') + 1)}`,
        `${allowed}-other`,
        '/',
      ]) {
        const { status, json } = await add(path);
        expect([path, status, json.code, json.error]).toEqual([
          path,
          400,
          'INVALID_INPUT',
          expect.stringMatching(/^path/),
        ]);
      }
      expect(readdirSync(outside)).toEqual([]);
      rmSync(outside, { recursive: true });
    },
    TIMEOUT_MS,
  );

  test(
    'fail when the target is replaced by a link, is gone, or has another password, and touch no VM',
    async () => {
      const id = await target();
      const path = join(allowed, 'repository');
      source.open = () => Promise.reject(new Error('The VM was read.'));
      rmSync(path, { recursive: true });
      expect(await backUp(id)).toMatchObject({ status: 'error', error: expect.stringMatching(/no repository/) });
      mkdirSync(join(allowed, 'elsewhere'));
      symlinkSync(join(allowed, 'elsewhere'), path);
      expect(await backUp(id)).toMatchObject({ status: 'error', error: expect.stringMatching(/is a link/) });
      rmSync(path);
      const other = await add(`${path}-other`, 'another password', 'other');
      expect(other.status).toBe(201);
      const wrong = await add(path, 'short');
      expect([wrong.status, wrong.json.error]).toEqual([400, expect.stringMatching(/^password/)]);
    },
    TIMEOUT_MS,
  );

  test(
    'open a repository that exists with its password only',
    async () => {
      const id = await target();
      await backUp(id);
      expect((await send('DELETE', `${TARGETS}/${id}`)).status).toBe(200);
      const wrong = await add(join(allowed, 'repository'), 'another password');
      expect([wrong.status, wrong.json.error]).toEqual([400, expect.stringMatching(/^password: .*another password/)]);
      const again = await add(join(allowed, 'repository'));
      expect(again.status).toBe(201);
      // Those of the former target are there, and are not cleaned up by the new one.
      const next = String(again.json['id']);
      expect(await points(next)).toHaveLength(1);
      expect(await run(`${TARGETS}/${next}/clean`, { keep: { last: 1 } })).toMatchObject({ result: { deleted: 0 } });
    },
    TIMEOUT_MS,
  );

  test(
    'are hidden from a viewer who may not read the VM, or whose VM was replaced',
    async () => {
      const id = await target();
      for (const path of ['prod', 'other']) await send('POST', '/api/folders', { path });
      await send('POST', '/api/folders/members', { path: 'prod', ref: 'vm/lab/default/db' });
      await backUp(id);
      await backUp(id, 'web');
      expect(await points(id)).toHaveLength(2);
      expect((await points(id, VERA)).map(({ ref }) => ref)).toEqual(['vm/lab/default/db']);
      const [shown] = JSON.parse((await send('GET', TARGETS, undefined, VERA)).body) as Record<string, unknown>[];
      expect(shown).not.toHaveProperty('path');
      for (const [method, path, body] of [
        ['POST', '/api/ext/vms/default/db/backup?context=lab', { target: id }],
        ['POST', `${TARGETS}/${id}/clean`, { keep: { last: 1 } }],
        ['POST', `${TARGETS}/${id}/check`, {}],
        ['DELETE', `${TARGETS}/${id}`, undefined],
      ] as const)
        expect([path, (await send(method, path, body, VERA)).status]).toEqual([path, 403]);
      const { ref } = edge.lab.engine.vm({ kind: 'vm', context: 'lab', namespace: 'default', name: 'db' });
      const replaced = { ...edge.lab.engine.vm(ref), uid: 'another' };
      edge.lab.engine.remove(ref);
      edge.lab.engine.put(replaced);
      expect(await points(id, VERA)).toEqual([]);
      expect(await points(id)).toHaveLength(2);
    },
    TIMEOUT_MS,
  );

  test(
    'are not begun twice, and keep other changes of the VM away',
    async () => {
      const id = await target();
      let go = (): void => undefined;
      const wait = new Promise<void>((resolve) => (go = resolve));
      const reading = new Promise<void>((resolve) => {
        source.beforeRead = () => {
          resolve();
          return wait;
        };
      });
      const path = '/api/ext/vms/default/db/backup?context=lab';
      const first = await send('POST', path, { target: id });
      const second = await send('POST', path, { target: id });
      expect([second.status, second.json.code]).toEqual([409, 'BUSY']);
      const snapshot = await send('POST', '/api/vms/default/db/snapshots?context=lab', { name: 'one' });
      expect([snapshot.status, snapshot.json.code]).toEqual([409, 'BUSY']);
      expect((await send('DELETE', '/api/vms/default/db?context=lab')).status).toBe(409);
      await reading;
      edge.lab.engine.put(
        withStatus(edge.lab.engine.vm({ kind: 'vm', context: 'lab', namespace: 'default', name: 'db' }), 'Stopped'),
      );
      go();
      expect(await ended(first.json['task'])).toMatchObject({
        status: 'error',
        error: expect.stringMatching(/has stopped/),
      });
      expect([source.openReadings, await points(id)]).toEqual([0, []]);
    },
    TIMEOUT_MS,
  );

  test(
    'name the field of bad input',
    async () => {
      const id = await target();
      for (const [path, body, field] of [
        ['/api/ext/vms/default/db/backup?context=lab', { target: '../..' }, 'target'],
        [`${TARGETS}/${id}/clean`, { keep: { last: -1 } }, 'last'],
        [`${TARGETS}/${id}/clean`, { keep: { last: 1 }, timeZone: 'Mars/Olympus' }, 'timeZone'],
        [TARGETS, { name: 'x', kind: 's3', path: '/a', password: PASSWORD }, 'kind'],
      ] as const) {
        const { status, json } = await send('POST', path, body);
        expect([status, json.error]).toEqual([400, expect.stringContaining(field)]);
      }
      const missing = await send('POST', `${TARGETS}/${'0'.repeat(16)}/check`, {});
      expect([missing.status, missing.json.code]).toEqual([404, 'BACKUP_TARGET_NOT_FOUND']);
      const gone = await send('DELETE', `${TARGETS}/${id}/points/${'0'.repeat(64)}`);
      expect([gone.status, gone.json.code]).toEqual([404, 'BACKUP_POINT_NOT_FOUND']);
    },
    TIMEOUT_MS,
  );

  test(
    'rehearse with every change and change nothing',
    async () => {
      const path = join(allowed, 'repository');
      const plan = await send('POST', `${TARGETS}?dryRun=true`, {
        name: 'n',
        kind: 'directory',
        path,
        password: PASSWORD,
      });
      expect([plan.status, readdirSync(allowed)]).toEqual([200, []]);
      const id = await target();
      for (const [method, at, body] of [
        ['POST', '/api/ext/vms/default/db/backup?context=lab&dryRun=true', { target: id }],
        ['POST', `${TARGETS}/${id}/clean?dryRun=true`, { keep: { last: 1 } }],
        ['POST', `${TARGETS}/${id}/check?dryRun=true`, {}],
        ['DELETE', `${TARGETS}/${id}?dryRun=true`, undefined],
      ] as const) {
        const { status, json } = await send(method, at, body);
        expect([status, json['refusals']]).toEqual([200, []]);
      }
      expect([await points(id), source.kept]).toEqual([[], []]);
    },
    TIMEOUT_MS,
  );
});

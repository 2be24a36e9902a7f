import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  BackupPointView,
  BackupTargetStateView,
  ScheduleDetailView,
  ScheduledRunView,
  TaskView,
} from '@headgate/api-contracts';
import { BackupStores } from '@headgate/backups';
import { DomainError, isVm, type BackupSource, type BootProof } from '@headgate/domain-contracts';
import { DirectoryTarget, ResticRepository } from '@headgate/restic-repository';
import { MemoryBackend, MemoryBackupSource, MemoryBootProof } from '@headgate/testing';
import { Edge } from '../testing/edge.js';
import { ScheduleClock } from './testing/schedule-clock.js';

const SCHEDULES = '/api/ext/schedules';
const TARGETS = '/api/ext/backups/targets';
const PASSWORD = 'correct horse battery';
const DISK_BYTES = 1024 ** 2;
const HOUR_MS = 3_600_000;
const ANN = { 'tailscale-user-login': 'ann' };
const OSCAR = { 'tailscale-user-login': 'oscar' };
const ROLES = 'roles: [{ login: oscar, folder: prod, role: admin }]';

describe('schedules of backups', () => {
  let edge: Edge;
  let time: ScheduleClock;
  let folder: string;
  let target: string;
  let source: MemoryBackupSource;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-backups-'));
    const clusters = { unavailable: { backupSource: 'Clusters have no backups.' } };
    edge = new Edge(new MemoryBackend('lab'), new MemoryBackend('other', clusters));
    for (const known of edge.lab.engine.all())
      if (isVm(known)) edge.lab.engine.put({ ...known, diskBytes: DISK_BYTES });
    await edge.open({}, ['--config', configuration()]);
    opened();
    target = await addTarget('nightly');
  });

  afterEach(async () => {
    await edge.close();
    rmSync(folder, { recursive: true });
  });

  const configuration = (roles = ROLES): string => {
    const file = join(edge.folder, 'headgate.yaml');
    writeFileSync(file, `admins: [ann]\n${roles}\nbackups: { folders: [${JSON.stringify(folder)}] }\n`);
    return file;
  };
  const opened = (): void => {
    time = new ScheduleClock(edge);
    source = edge.lab.require('backupSource') as MemoryBackupSource & BackupSource;
  };
  const reopen = async (roles?: string): Promise<void> => {
    await edge.reopen({}, ['--config', configuration(roles)]);
    opened();
  };
  /** With a repository whose key costs nothing. */
  const addTarget = async (name: string): Promise<string> => {
    const path = join(folder, name);
    await ResticRepository.create(new DirectoryTarget(path), PASSWORD, { scrypt: { n: 2, r: 1, p: 1 } });
    const { json } = await edge.send('POST', TARGETS, { name, kind: 'directory', path, password: PASSWORD }, ANN);
    return String(json['id']);
  };
  const order = (more: object = {}, backup: object = {}) => ({
    name: 'Night',
    cron: '0 * * * *',
    timeZone: 'Europe/Berlin',
    job: { action: 'backup', query: { q: 'web' }, backup: { target, ...backup } },
    ...more,
  });
  const create = (body: object, headers = ANN) => edge.send('POST', SCHEDULES, body, headers);
  const created = async (body: object, headers = ANN): Promise<string> => {
    const { status, json } = await create(body, headers);
    expect([status, json.error]).toEqual([201, undefined]);
    return String(json['id']);
  };
  const job = (query: object, backup: object = {}) => ({
    job: { action: 'backup', query, backup: { target, ...backup } },
  });
  const get = async (id: string) =>
    (await edge.send('GET', `${SCHEDULES}/${id}`, undefined, ANN)).json as unknown as ScheduleDetailView;
  const ended = async (id: string): Promise<ScheduledRunView> => {
    for (;;) {
      const { lastRun } = await get(id);
      if (lastRun?.endedAt !== undefined) return lastRun;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const run = async (id: string): Promise<ScheduledRunView> => {
    const { status, json } = await edge.send('POST', `${SCHEDULES}/${id}/run`, undefined, ANN);
    expect([status, json.error]).toEqual([202, undefined]);
    return ended(id);
  };
  const task = async (id = ''): Promise<TaskView> =>
    (await edge.send('GET', `/api/tasks/${id}`, undefined, ANN)).json as unknown as TaskView;
  /** After the clean-ups of all runs so far. */
  const points = async (of = target): Promise<BackupPointView[]> => {
    for (;;) {
      const { json } = await edge.send('GET', '/api/tasks', undefined, ANN);
      if ((json as unknown as TaskView[]).every(({ status }) => status !== 'running')) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return (await edge.send('GET', `${TARGETS}/${of}/points`, undefined, ANN)).json as unknown as BackupPointView[];
  };
  const nameOf = ({ ref }: { ref: string }): string => ref.slice(ref.lastIndexOf('/') + 1);
  const backUp = (name: string) =>
    edge.send('POST', `/api/ext/vms/default/${name}/backup?context=lab`, { target }, ANN);
  /** Holds the next reading of a disk. */
  const hold = (): { readonly begun: Promise<void>; readonly release: () => void } => {
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    source.beforeRead = () => {
      begun.resolve();
      return released.promise;
    };
    return { begun: begun.promise, release: released.resolve };
  };

  test('back up each VM as a task, and skip those that can not be backed up', async () => {
    const id = await created(order(job({ q: 'name:web,twin' })));
    const { status, task: bulk } = await run(id);
    expect(status).toBe('done');
    const { members, bulk: { backup, schedule } = {} } = await task(bulk);
    expect([backup, schedule?.id]).toEqual([{ target, timeZone: 'Europe/Berlin' }, id]);
    const results = members?.map(({ ref, status: result, error }) => [ref, result, error]).sort();
    expect(results).toEqual([
      ['vm/lab/default/twin', 'done', undefined],
      ['vm/lab/default/web', 'done', undefined],
      ['vm/other/default/twin', 'skipped', expect.stringContaining('Clusters have no backups.')],
    ]);
    expect((await points()).map((point) => [nameOf(point), point.schedule]).sort()).toEqual([
      ['twin', id],
      ['web', id],
    ]);
  });

  test('boot the new backups, and delete only backups older than one that has booted', async () => {
    const proving = order(job({ q: 'web' }, { prove: true, onlyIfProved: true, keep: { last: 1 } }));
    const limited = await create(order(job({ folder: 'prod' }, { prove: true })), OSCAR);
    expect([limited.status, limited.json.error]).toEqual([403, expect.stringContaining('job.backup.prove')]);
    const id = await created(proving);
    const proofs = async () => (await points()).map(({ proof }) => proof?.state);
    expect(await run(id)).toMatchObject({ status: 'done' });
    expect(await proofs()).toEqual(['booted']);
    const boots = edge.lab.require('bootProof') as BootProof as MemoryBootProof;
    const { sign } = boots;
    boots.sign = undefined;
    await run(id);
    // The one that has booted stays, although the rules keep the newest one only.
    expect(await proofs()).toEqual(['failed', 'booted']);
    boots.sign = sign;
    await run(id);
    expect(await proofs()).toEqual(['booted']);
  });

  test('keep what the rules want of their own backups only', async () => {
    const elsewhere = await addTarget('weekly');
    await backUp('web');
    await points();
    const other = await created(order({ name: 'Other' }));
    await run(other);
    await points();
    const weekly = await created(order({ name: 'Weekly', ...job({ q: 'web' }, { target: elsewhere }) }));
    await run(weekly);
    const id = await created(order(job({ q: 'name:web,db' }, { keep: { last: 1 } })));
    for (let count = 0; count < 2; count++) {
      expect(await run(id)).toMatchObject({ status: 'done' });
      await points();
    }
    const left = (await points()).map((point) => `${nameOf(point)} ${point.schedule ?? 'by hand'}`).sort();
    expect(left).toEqual([`db ${id}`, `web ${id}`, `web ${other}`, 'web by hand'].sort());
    expect(await points(elsewhere)).toHaveLength(1);
    expect((await edge.send('DELETE', `${SCHEDULES}/${id}`, undefined, ANN)).status).toBe(200);
    expect(await points()).toHaveLength(4);
  });

  test('skip a VM that is being backed up, with the reason, and back up the others', async () => {
    const { begun, release } = hold();
    await backUp('db');
    await begun;
    source.beforeRead = () => undefined;
    const id = await created(order(job({ q: 'name:web,db', context: 'lab' })));
    const { status, task: bulk } = await run(id);
    expect(status).toBe('done');
    const { members = [] } = await task(bulk);
    expect(members.map((member) => [nameOf(member), member.status, member.error]).sort()).toEqual([
      ['db', 'skipped', expect.stringMatching(/busy with a backup/)],
      ['web', 'done', undefined],
    ]);
    release();
    expect((await points()).map(nameOf).sort()).toEqual(['db', 'web']);
  });

  test('delete nothing when the backup fails because the target is full', async () => {
    const id = await created(order(job({ q: 'web' }, { keep: { last: 1 } })));
    await run(id);
    const before = await points();
    const stores = edge.service.app.get(BackupStores, { strict: false });
    const open = stores.open.bind(stores);
    stores.open = async (one) => {
      const store = await open(one);
      store.write = () => Promise.reject(new DomainError('INSUFFICIENT_STORAGE', 'The backup target is full.'));
      return store;
    };
    const failed = await run(id);
    expect(failed).toMatchObject({ status: 'error', reason: '1 of 1 failed.' });
    expect((await task(failed.task)).members).toMatchObject([{ error: 'The backup target is full.' }]);
    stores.open = open;
    expect(await points()).toEqual(before);
  });

  test('fail with the reason when the target is removed, or has another password', async () => {
    const id = await created(order());
    rmSync(join(folder, 'nightly'), { recursive: true });
    await ResticRepository.create(new DirectoryTarget(join(folder, 'nightly')), 'another password', {
      scrypt: { n: 2, r: 1, p: 1 },
    });
    source.open = () => Promise.reject(new Error('The VM was read.'));
    const wrong = await run(id);
    expect((await task(wrong.task)).members).toMatchObject([{ error: expect.stringMatching(/another password/) }]);
    expect((await edge.send('DELETE', `${TARGETS}/${target}`, undefined, ANN)).status).toBe(200);
    expect(await run(id)).toMatchObject({ status: 'error', reason: expect.stringMatching(/no backup target/) });
    expect((await create(order({ name: 'Late' }))).json.code).toBe('BACKUP_TARGET_NOT_FOUND');
  });

  test('do nothing when nothing matches any more, or the owner has lost the right to a VM', async () => {
    await edge.send('POST', '/api/folders', { path: 'prod' }, ANN);
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: 'vm/lab/default/web' }, ANN);
    const id = await created(order(job({ folder: 'prod' })), OSCAR);
    expect((await create(order({ name: 'All', ...job({ q: 'db' }) }), OSCAR)).status).toBe(403);
    expect(await run(id)).toMatchObject({ status: 'done' });
    await reopen('roles: [{ login: oscar, folder: prod, role: viewer }]');
    expect(await run(id)).toMatchObject({ status: 'error', reason: expect.stringMatching(/no right to backup 1/) });
    await reopen();
    await edge.send('DELETE', '/api/folders/members?ref=vm/lab/default/web', undefined, ANN);
    expect(await run(id)).toMatchObject({ status: 'empty', reason: 'No instance matched.' });
    expect(await points()).toHaveLength(1);
  });

  test('run once at 02:30 on the day that has no such time', async () => {
    const year = new Date().getUTCFullYear() + 1;
    const last = new Date(Date.UTC(year, 2, 31));
    const sunday = new Date(Date.UTC(year, 2, 31 - last.getUTCDay()));
    const id = await created(order({ cron: `30 2 ${sunday.getUTCDate()} 3 *` }));
    const { nextRun } = await get(id);
    // Clocks show 03:30 then, as 01:30 of that day is the second half hour before they are set forward.
    expect(new Date(nextRun!).toISOString().slice(11)).toBe('01:30:00.000Z');
    await time.reach(nextRun);
    expect(await ended(id)).toMatchObject({ status: 'done', planned: nextRun });
    await time.pass(HOUR_MS);
    expect((await get(id)).runs).toHaveLength(1);
    expect(await points()).toHaveLength(1);
  });

  test('of two that are due in the same minute to one target, both run', async () => {
    const first = await created(order(job({ q: 'name:web,db', context: 'lab' })));
    const second = await created(order({ name: 'Other', ...job({ q: 'twin', context: 'lab' }) }));
    await time.reach((await get(first)).nextRun);
    expect([await ended(first), await ended(second)]).toMatchObject([{ status: 'done' }, { status: 'done' }]);
    expect((await points()).map(nameOf).sort()).toEqual(['db', 'twin', 'web']);
    const { json } = await edge.send('GET', `${TARGETS}/${target}/state`, undefined, ANN);
    expect(json as unknown as BackupTargetStateView).toMatchObject({ state: 'ready', points: 3 });
  });

  test('continue after a restart in the middle of a run, and store each VM once', async () => {
    const { begun, release } = hold();
    const id = await created(order(job({ q: 'name:web,db', context: 'lab' }, { keep: { last: 3 } })));
    await edge.send('POST', `${SCHEDULES}/${id}/run`, undefined, ANN);
    await begun;
    const closed = reopen();
    release();
    await closed;
    source.beforeRead = () => undefined;
    expect(await ended(id)).toMatchObject({ status: 'done' });
    expect((await points()).map(nameOf).sort()).toEqual(['db', 'web']);
    expect((await get(id)).runs).toHaveLength(1);
  });

  test('keep the new backup after the clock was set back', async () => {
    const id = await created(order({ enabled: false, ...job({ q: 'web' }, { keep: { last: 1 } }) }));
    await time.pass(3 * HOUR_MS);
    await run(id);
    const [ahead] = await points();
    await time.pass(-3 * HOUR_MS);
    await run(id);
    const left = await points();
    expect(left.map((point) => point.id)).toEqual([ahead?.id, expect.any(String)]);
  });

  test('are refused with fields that make no sense, and name the field', async () => {
    for (const [body, message] of [
      [{}, /job\.backup is missing/],
      [{ query: { q: 'web', kind: 'ct' }, backup: {} }, /containers have no backups/],
      [{ force: true, backup: {} }, /job\.force/],
      [{ keep: 2, backup: {} }, /job\.keep/],
      [{ backup: { keep: { last: 0 } } }, /job\.backup\.keep/],
      [{ backup: { keep: { daily: -1 } } }, /daily/],
      [{ backup: { target: '../..' } }, /target/],
      [{ backup: { onlyIfProved: true } }, /job\.backup\.onlyIfProved/],
      [{ backup: { prove: 'yes' } }, /prove/],
      [{ action: 'snapshot', backup: {} }, /job\.backup is only/],
    ] as const) {
      const backup = 'backup' in body ? { backup: { target, ...body.backup } } : {};
      const { status, json } = await create(
        order({ job: { action: 'backup', query: { q: 'web' }, ...body, ...backup } }),
      );
      expect([body, status, json.error]).toEqual([body, 400, expect.stringMatching(message)]);
    }
  });
});

import { DomainError, formatRef, type BackupSource } from '@headgate/domain-contracts';
import { buildVm, MemoryBackupSource, recordingStepContext, withStatus } from '@headgate/testing';
import { pointsOf, MANIFEST_PATH } from './backup-point.js';
import { BackupTask, type BackedUp, type BackupInput } from './backup-task.js';
import { BackingUp } from './testing/backing-up.js';

const MIB = 1024 ** 2;
const TARGET = 'feed000000000001';

describe('a backup', () => {
  let backing: BackingUp;
  let task: BackupTask;
  let source: MemoryBackupSource;

  beforeEach(async () => {
    backing = await BackingUp.open();
    task = new BackupTask(backing);
    source = backing.lab.require('backupSource') as MemoryBackupSource & BackupSource;
  });

  const input = (): BackupInput => ({ ref: formatRef(backing.web), uid: 'uid-web', target: TARGET });
  const backUp = (id: string): Promise<BackedUp> => {
    backing.clock.advance(60_000);
    return backing.run(task, input(), id) as Promise<BackedUp>;
  };
  const start = (): void => backing.lab.engine.put(withStatus(backing.lab.engine.vm(backing.web), 'Running'));
  const points = async () => pointsOf(await backing.stores.store.snapshots());
  const diskOf = async (point: string): Promise<Buffer> =>
    (await backing.stores.store.openFile(point, '/disks/vda.raw')).read(0, 8 * MIB);

  test('has the disks of a VM that is stopped, and a manifest with its tags and its folder', async () => {
    const { point, consistency } = await backUp('task-1');
    expect(consistency).toBe('stopped');
    expect((await diskOf(point)).equals(backing.disk)).toBe(true);
    const manifest = await backing.stores.store.openFile(point, MANIFEST_PATH);
    expect(JSON.parse((await manifest.read(0, manifest.sizeBytes)).toString())).toMatchObject({
      format: 1,
      ref: formatRef(backing.web),
      uid: 'uid-web',
      folder: 'prod/web',
      vm: { tags: ['prod'], disks: [{ name: 'vda', sizeBytes: 8 * MIB }] },
    });
    expect(await points()).toMatchObject([{ id: point, uid: 'uid-web', series: TARGET, task: 'task-1' }]);
  });

  test('reads only the changes of a VM that runs, and has its whole disk', async () => {
    start();
    await backUp('task-1');
    const { readBytes } = backing.stores.store;
    expect(readBytes).toBe(8 * MIB);
    backing.disk.write('changed', 5 * MIB);
    const second = await backUp('task-2');
    expect(second).toMatchObject({ readBytes: 64 * 1024, consistency: 'frozen' });
    expect((await diskOf(second.point)).equals(backing.disk)).toBe(true);
    expect([source.kept.length, source.openReadings]).toEqual([1, 0]);
  });

  test('has the whole disk of a reading with only the changes, or reads all if the former backup is damaged', async () => {
    start();
    source.copiesFirst = true;
    await backUp('task-1');
    backing.disk.write('changed', 5 * MIB + 1000);
    const second = await backUp('task-2');
    expect((await diskOf(second.point)).equals(backing.disk)).toBe(true);
    const { store } = backing.stores;
    store.blockBytes = MIB;
    backing.disk.write('changed again', 5 * MIB + 1000);
    const third = await backUp('task-3');
    expect(third).toMatchObject({ readBytes: MIB });
    expect((await diskOf(third.point)).equals(backing.disk)).toBe(true);

    const open = store.openFile.bind(store);
    store.openFile = async (snapshot, path) => ({
      ...(await open(snapshot, path)),
      read: () => Promise.reject(new DomainError('BACKEND_FAILED', 'It is damaged.')),
    });
    backing.disk.write('changed once more', 5 * MIB + 1000);
    const fourth = await backUp('task-4');
    store.openFile = open;
    expect(fourth).toMatchObject({ readBytes: 8 * MIB });
    expect((await diskOf(fourth.point)).equals(backing.disk)).toBe(true);
    expect([source.openReadings, source.kept.length]).toEqual([0, 1]);
  });

  test('reads the whole disk when the record of its changes is lost, or the point that it continues is gone', async () => {
    start();
    const first = await backUp('task-1');
    source.lose();
    expect(await backUp('task-2')).toMatchObject({ readBytes: 8 * MIB });
    await backing.stores.store.forget((await points()).map(({ id }) => id));
    expect(await backUp('task-3')).toMatchObject({ readBytes: 8 * MIB });
    expect(await points()).not.toContainEqual(expect.objectContaining({ id: first.point }));
  });

  test('continues no point of another series, nor of another VM of its name', async () => {
    start();
    await backUp('task-1');
    await backing.addTarget('second', 'feed000000000002');
    expect(await backing.run(task, { ...input(), target: 'feed000000000002' }, 'task-2')).toMatchObject({
      readBytes: 8 * MIB,
    });
    backing.lab.engine.remove(backing.web);
    backing.lab.engine.put({
      ...buildVm({ ref: { name: 'web' }, uid: 'uid-other', diskBytes: 8 * MIB }),
      status: 'Running',
    });
    await expect(backUp('task-3')).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    expect(await backing.run(task, { ...input(), uid: 'uid-other' }, 'task-4')).toMatchObject({ readBytes: 8 * MIB });
    expect((await points()).map(({ uid }) => uid)).toEqual(expect.arrayContaining(['uid-web', 'uid-other']));
  });

  test.each([
    ['is powered off', () => backing.lab.engine.put(withStatus(backing.lab.engine.vm(backing.web), 'Stopped'))],
    ['is deleted', () => backing.lab.engine.remove(backing.web)],
  ])('stores nothing and closes its reading when the VM %s meanwhile', async (_what, change) => {
    start();
    source.beforeRead = change;
    await expect(backUp('task-1')).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect([await points(), source.openReadings, source.kept]).toEqual([[], 0, []]);
  });

  test('keeps the former checkpoint when the target is full', async () => {
    start();
    await backUp('task-1');
    const kept = [...source.kept];
    backing.stores.store.failure = new DomainError('INSUFFICIENT_STORAGE', 'The target is full.');
    await expect(backUp('task-2')).rejects.toMatchObject({ code: 'INSUFFICIENT_STORAGE' });
    expect([source.kept, source.openReadings]).toEqual([kept, 0]);
    delete backing.stores.store.failure;
    backing.disk.write('changed', 5 * MIB);
    expect(await backUp('task-3')).toMatchObject({ readBytes: 64 * 1024 });
  });

  test('touches no VM while another process excludes it from the target, and goes on afterwards', async () => {
    start();
    const open = source.open.bind(source);
    backing.stores.store.busyTimes = 2;
    let isOpened = false;
    source.open = (...args) => {
      isOpened = true;
      return open(...args);
    };
    const done = backUp('task-1');
    for (let turn = 0; turn < 20 && !isOpened; turn++) {
      expect(backing.stores.store.busyTimes > 0 || turn > 0).toBe(true);
      await new Promise((resolve) => setImmediate(resolve));
      await backing.clock.advance(15_000);
    }
    expect(await done).toMatchObject({ consistency: 'frozen' });
    expect(await points()).toHaveLength(1);
  });

  test('names the schedule that has asked for it', async () => {
    await backing.run(task, { ...input(), schedule: 'night' }, 'task-1');
    expect(await points()).toMatchObject([{ schedule: 'night', task: 'task-1' }]);
  });

  test('touches no VM when the target can not be opened', async () => {
    backing.stores.failure = new DomainError('BACKEND_FAILED', 'The password is wrong.');
    source.open = () => Promise.reject(new Error('It was opened.'));
    await expect(backUp('task-1')).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
  });

  test('is finished after a restart if its point was stored, and otherwise begins again', async () => {
    const journal = { task: 'task-1', version: 1, caller: { login: '', name: '' }, input: input(), steps: [] };
    const context = recordingStepContext(input(), { task: 'task-1' });
    expect(await task.resume(journal, context)).toEqual({ action: 'continue' });
    const { point } = await backUp('task-1');
    expect(await task.resume(journal, context)).toMatchObject({ action: 'finished', result: { point } });
  });
});

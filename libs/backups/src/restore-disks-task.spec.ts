import { formatRef, type StepContext } from '@headgate/domain-contracts';
import { buildVm, recordingStepContext } from '@headgate/testing';
import { BackupTask, type BackedUp } from './backup-task.js';
import { RestoreDisksTask, type RestoreDisksInput } from './restore-disks-task.js';
import { BackingUp } from './testing/backing-up.js';

const TARGET = 'feed000000000001';

describe('a restore of disks', () => {
  let backing: BackingUp;
  let task: RestoreDisksTask;
  let input: RestoreDisksInput;
  let key: string;
  const later = Buffer.from('written after the backup');

  beforeEach(async () => {
    backing = await BackingUp.open();
    key = `${formatRef(backing.web)} vda`;
    const { point } = (await backing.run(new BackupTask(backing), {
      ref: formatRef(backing.web),
      uid: 'uid-web',
      target: TARGET,
    })) as BackedUp;
    backing.lab.engine.disks.set(key, later);
    task = new RestoreDisksTask(backing);
    input = {
      id: '0b3a2d0e-0000-4000-8000-000000000001',
      target: TARGET,
      point,
      ref: formatRef(backing.web),
      uid: 'uid-web',
      mode: 'replace',
      disks: ['vda'],
      copiesFirmwareVariables: false,
    };
  });

  const runSteps = async (names: readonly string[]): Promise<StepContext<RestoreDisksInput>> => {
    const context = recordingStepContext(input);
    for (const step of task.steps()) if (names.includes(step.name)) await step.run(context);
    return context;
  };
  const content = (): Buffer => backing.lab.engine.disks.get(key) ?? Buffer.alloc(0);
  const isOfBackup = (): boolean => content().equals(backing.disk.subarray(0, content().length));
  const journal = (...names: string[]) => ({
    task: 'restore',
    version: 1,
    caller: { login: '', name: '' },
    input,
    steps: names.map((name, index) => ({ name, params: {}, attempts: 1, isFinished: index < names.length - 1 })),
  });

  test('changes the disk in its last step only', async () => {
    await runSteps(['reserve', 'copy']);
    expect(content().equals(later)).toBe(true);
    await runSteps(['commit']);
    expect(isOfBackup()).toBe(true);
    expect(backing.lab.engine.vm(backing.web)).toMatchObject({ uid: 'uid-web', status: 'Stopped', tags: ['prod'] });
  });

  test('leaves the VM as it was when it is rolled back, and keeps restored disks', async () => {
    const context = await runSteps(['reserve', 'copy']);
    await task.rollback(journal('reserve', 'copy'), context);
    expect(content().equals(later)).toBe(true);
    await runSteps(['reserve', 'copy', 'commit']);
    await task.rollback(journal('reserve', 'copy', 'commit'), context);
    expect(isOfBackup()).toBe(true);
  });

  test('continues after a restart where the disks are, and not without them', async () => {
    const context = await runSteps([]);
    expect(await task.resume(journal('reserve'), context)).toEqual({ action: 'continue' });
    expect(await task.resume(journal('reserve', 'copy'), context)).toMatchObject({ action: 'rollback' });
    await runSteps(['reserve', 'copy']);
    expect(await task.resume(journal('reserve', 'copy'), context)).toEqual({ action: 'continue' });
    await runSteps(['commit']);
    expect(await task.resume(journal('reserve', 'copy', 'commit'), context)).toEqual({ action: 'finished' });
  });

  test('reports a damaged block with its disk, and touches nothing', async () => {
    const openFile = backing.stores.store.openFile.bind(backing.stores.store);
    backing.stores.store.openFile = async (id, path) => {
      const found = await openFile(id, path);
      if (!path.includes('vda')) return found;
      return {
        ...found,
        content: async function* () {
          yield await found.read(0, 1024);
          throw new Error('The blob 1234 of vda is damaged.');
        },
      };
    };
    await expect(runSteps(['reserve', 'copy'])).rejects.toThrow('blob 1234 of vda');
    await task.rollback(journal('reserve', 'copy'), recordingStepContext(input));
    expect(content().equals(later)).toBe(true);
  });

  test('notices content that the storage has changed', async () => {
    const restore = backing.lab.require('diskRestore');
    const hashes = restore.hashes.bind(restore);
    restore.hashes = async function* (...args) {
      let isFirst = true;
      for await (const hash of hashes(...args)) {
        yield isFirst ? 'another' : hash;
        isFirst = false;
      }
    };
    await expect(runSteps(['reserve', 'copy'])).rejects.toThrow(/The disk vda is not the one of the backup at 0/);
    expect(content().equals(later)).toBe(true);
  });

  test('does not touch a VM that was started, or created again, meanwhile', async () => {
    const { engine } = backing.lab;
    await runSteps(['reserve', 'copy']);
    engine.put({ ...engine.vm(backing.web), status: 'Running' });
    await expect(runSteps(['commit'])).rejects.toMatchObject({ code: 'WRONG_STATE' });
    engine.remove(backing.web);
    engine.put(buildVm({ ref: backing.web, uid: 'uid-other', diskBytes: 1024 ** 2 }));
    engine.disks.set(key, later);
    await expect(runSteps(['commit'])).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(await task.resume(journal('reserve', 'copy', 'commit'), recordingStepContext(input))).toMatchObject({
      action: 'rollback',
    });
    await task.rollback(journal('reserve', 'copy', 'commit'), recordingStepContext(input));
    expect(content().equals(later)).toBe(true);
  });

  test('adds a disk next to the present one', async () => {
    input = { ...input, mode: 'add' };
    await runSteps(['reserve', 'copy', 'commit']);
    expect(content().equals(later)).toBe(true);
    const added = backing.lab.engine.disks.get(`${formatRef(backing.web)} vdb`) ?? Buffer.alloc(0);
    expect(added.equals(backing.disk.subarray(0, added.length))).toBe(true);
    expect(added.length).toBeGreaterThan(0);
  });
});

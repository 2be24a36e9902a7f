import { formatRef, type StepContext } from '@headgate/domain-contracts';
import { recordingStepContext } from '@headgate/testing';
import { BackupTask, type BackedUp } from './backup-task.js';
import { MANIFEST_PATH } from './backup-point.js';
import { RestoreTask, type RestoreInput } from './restore-task.js';
import { BackingUp } from './testing/backing-up.js';

const TARGET = 'feed000000000001';
const COPY = 'vm/lab/default/web-restored';

describe('a restore', () => {
  let backing: BackingUp;
  let task: RestoreTask;
  let input: RestoreInput;

  beforeEach(async () => {
    backing = await BackingUp.open();
    const backup = new BackupTask(backing);
    const { point } = (await backing.run(backup, {
      ref: formatRef(backing.web),
      uid: 'uid-web',
      target: TARGET,
    })) as BackedUp;
    task = new RestoreTask(backing);
    input = {
      id: '0b3a2d0e-0000-4000-8000-000000000001',
      target: TARGET,
      point,
      destination: COPY,
      mapping: { networks: {}, storageClasses: {} },
      keepsMacs: false,
      copiesFirmwareVariables: false,
    };
  });

  const runSteps = async (names: readonly string[]): Promise<StepContext<RestoreInput>> => {
    const context = recordingStepContext(input);
    for (const step of task.steps()) if (names.includes(step.name)) await step.run(context);
    return context;
  };
  const restored = () => backing.lab.engine.all().find(({ ref }) => ref.name === 'web-restored');
  const journal = (...names: string[]) => ({
    task: 'restore',
    version: 1,
    caller: { login: '', name: '' },
    input,
    steps: names.map((name, index) => ({
      name,
      params: {},
      attempts: 1,
      isFinished: index < names.length - 1,
    })),
  });

  test('builds a stopped VM with the same disks and tags, next to the original', async () => {
    await runSteps(['reserve', 'copy', 'commit']);
    expect(restored()).toMatchObject({ status: 'Stopped', tags: ['prod'] });
    const disk = backing.lab.engine.disks.get(`${COPY} vda`) ?? Buffer.alloc(0);
    expect(disk.equals(backing.disk.subarray(0, disk.length))).toBe(true);
    expect(backing.disk.subarray(disk.length).every((byte) => byte === 0)).toBe(true);
    expect(backing.lab.engine.has(backing.web)).toBe(true);
  });

  test('leaves nothing behind when it is rolled back, and never removes a complete VM', async () => {
    const context = await runSteps(['reserve', 'copy']);
    await task.rollback(journal('reserve', 'copy'), context);
    expect(restored()).toBeUndefined();
    await runSteps(['reserve', 'copy', 'commit']);
    await task.rollback(journal('reserve', 'copy', 'commit'), context);
    expect(restored()).toMatchObject({ status: 'Stopped' });
  });

  test('continues after a restart where the VM is, and not without it', async () => {
    const context = await runSteps([]);
    expect(await task.resume(journal('reserve'), context)).toEqual({ action: 'continue' });
    expect(await task.resume(journal('reserve', 'copy'), context)).toMatchObject({ action: 'rollback' });
    await runSteps(['reserve', 'copy']);
    expect(await task.resume(journal('reserve', 'copy'), context)).toEqual({ action: 'continue' });
    await runSteps(['copy', 'commit']);
    expect(await task.resume(journal('reserve', 'copy', 'commit'), context)).toEqual({ action: 'finished' });
  });

  test.each([
    ['no JSON', '{'],
    ['of a newer release', '{"format":2}'],
    ['without disks', '{"format":1,"consistency":"stopped","vm":{}}'],
  ])('refuses a manifest that is %s, before it creates anything', async (_what, text) => {
    const [snapshot] = backing.stores.store.stored;
    (snapshot?.files as Map<string, Buffer>).set(MANIFEST_PATH, Buffer.from(text));
    await expect(runSteps(['reserve'])).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    expect(restored()).toBeUndefined();
  });
});

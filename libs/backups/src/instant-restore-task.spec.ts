import { setImmediate as turn } from 'node:timers/promises';
import { formatRef, type StepContext } from '@headgate/domain-contracts';
import { recordingStepContext } from '@headgate/testing';
import { BackupTask, type BackedUp } from './backup-task.js';
import { InstantRestoreTask, type InstantRestoreInput } from './instant-restore-task.js';
import { BackingUp } from './testing/backing-up.js';

const TARGET = 'feed000000000001';
const COPY = 'vm/lab/default/web-restored';

describe('an instant restore', () => {
  let backing: BackingUp;
  let task: InstantRestoreTask;
  let input: InstantRestoreInput;

  beforeEach(async () => {
    backing = await BackingUp.open();
    const { point } = (await backing.run(new BackupTask(backing), {
      ref: formatRef(backing.web),
      uid: 'uid-web',
      target: TARGET,
    })) as BackedUp;
    task = new InstantRestoreTask(backing);
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

  const restored = () => backing.lab.engine.all().find(({ ref }) => ref.name === 'web-restored');
  const run = async (
    names: readonly string[],
    more: Partial<StepContext<InstantRestoreInput>> = {},
  ): Promise<StepContext<InstantRestoreInput>> => {
    const context = { ...recordingStepContext(input), ...more };
    for (const step of task.steps()) if (names.includes(step.name)) await step.run(context);
    return context;
  };
  const journal = (...names: string[]) => ({
    task: 'restore',
    version: 1,
    caller: { login: '', name: '' },
    input,
    steps: names.map((name, index) => ({ name, params: {}, attempts: 1, isFinished: index < names.length - 1 })),
  });
  /** Begins the copy, and ends it when the guest runs. */
  const interrupted = async (): Promise<void> => {
    const end = new AbortController();
    const bytes = (): void => end.abort(new Error('the service stops'));
    await expect(run(['reserve', 'copy'], { signal: end.signal, bytes })).rejects.toThrow('the service stops');
  };

  test('builds a VM that runs, with the disks of the backup, and releases the lock', async () => {
    const committed: string[] = [];
    await run(['reserve', 'copy'], { commit: async (reason) => void committed.push(reason) });
    expect(restored()).toMatchObject({ status: 'Running', tags: ['prod'] });
    expect(backing.lab.engine.disks.get(`${COPY} vda`)?.equals(backing.disk)).toBe(true);
    expect(committed).toEqual(['web-restored runs from the backup: delete the VM to end its restore.']);
    expect(backing.stores.store.readers).toBe(0);
  });

  test('starts nothing that was canceled before, and removes it', async () => {
    const commit = (): Promise<void> => Promise.reject(new Error('canceled'));
    await expect(run(['reserve', 'copy'], { commit })).rejects.toThrow('canceled');
    await task.rollback(journal('reserve', 'copy'), recordingStepContext(input));
    expect(restored()).toBeUndefined();
    expect(backing.stores.store.readers).toBe(0);
  });

  test('goes on after a restart without a second start', async () => {
    await interrupted();
    expect(restored()).toMatchObject({ status: 'Running' });
    expect(await task.resume(journal('reserve', 'copy'), recordingStepContext(input))).toEqual({ action: 'continue' });
    const commit = (): Promise<void> => Promise.reject(new Error('started again'));
    await run(['copy'], { commit });
    expect(backing.lab.engine.disks.get(`${COPY} vda`)?.equals(backing.disk)).toBe(true);
  });

  test('completes a VM that has run instead of removing it', async () => {
    await interrupted();
    await task.rollback(journal('reserve', 'copy'), recordingStepContext(input));
    expect(restored()).toMatchObject({ status: 'Running' });
    expect(backing.lab.engine.disks.get(`${COPY} vda`)?.equals(backing.disk)).toBe(true);
  });

  test('waits for a target that is away, once the guest has run', async () => {
    await interrupted();
    backing.stores.failure = new Error('the folder is not mounted');
    const waits: string[] = [];
    const waitsFor = (subject: string): void => {
      waits.push(subject);
      if (waits.length === 2) delete backing.stores.failure;
    };
    let isDone = false;
    const work = run(['copy'], { waitsFor }).finally(() => (isDone = true));
    while (!isDone) {
      await backing.clock.advance(1000);
      await turn();
    }
    await work;
    expect(waits.slice(0, 2)).toEqual([
      'the backup. the folder is not mounted Attempt 1',
      'the backup. the folder is not mounted Attempt 2',
    ]);
  });

  test('fails when the backup no longer exists, and keeps the VM', async () => {
    await interrupted();
    await backing.stores.store.forget([input.point]);
    await expect(run(['copy'])).rejects.toMatchObject({
      code: 'BACKUP_POINT_NOT_FOUND',
      message: expect.stringMatching(/^web-restored needs a backup that no longer exists: /),
    });
    expect(restored()).toMatchObject({ status: 'Running' });
    expect(backing.stores.store.readers).toBe(0);
  });

  test('fails before the guest has run when the target is away', async () => {
    await run(['reserve']);
    backing.stores.failure = new Error('the folder is not mounted');
    await expect(run(['copy'])).rejects.toThrow('the folder is not mounted');
  });

  test('ends when the VM was deleted meanwhile', async () => {
    await interrupted();
    backing.lab.engine.remove({ kind: 'vm', context: 'lab', namespace: 'default', name: 'web-restored' });
    await run(['copy']);
    expect(restored()).toBeUndefined();
  });
});

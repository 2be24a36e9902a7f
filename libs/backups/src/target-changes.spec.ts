import { ADMINISTRATOR, formatRef, type BackupSource, type Caller } from '@headgate/domain-contracts';
import { MemoryBackupSource, withStatus } from '@headgate/testing';
import { BackupTask } from './backup-task.js';
import { RemoveTarget } from './target-changes.js';
import { BackingUp } from './testing/backing-up.js';

const TARGET = 'feed000000000001';
const OTHER = 'feed000000000002';
const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };

describe('the removal of a target', () => {
  let backing: BackingUp;
  let source: MemoryBackupSource;
  let removal: RemoveTarget;

  beforeEach(async () => {
    backing = await BackingUp.open();
    await backing.addTarget('second', OTHER);
    backing.lab.engine.put(withStatus(backing.lab.engine.vm(backing.web), 'Running'));
    source = backing.lab.require('backupSource') as MemoryBackupSource & BackupSource;
    removal = new RemoveTarget(backing);
  });

  const backUp = (target: string, task: string): Promise<unknown> =>
    backing.run(new BackupTask(backing), { ref: formatRef(backing.web), uid: 'uid-web', target }, task);

  test('removes the checkpoints of its backups, and no others', async () => {
    await backUp(TARGET, 'task-1');
    await backUp(OTHER, 'task-2');
    const [, others] = source.kept;
    await removal.run(TARGET, ann);
    expect(source.kept).toEqual([others]);
    expect(backing.targets.all().map(({ id }) => id)).toEqual([OTHER]);
    // Its repository stays.
    expect(backing.stores.store.stored).toHaveLength(2);
  });

  test('leaves no checkpoint of a backup that has not ended', async () => {
    await backUp(TARGET, 'task-1');
    source.beforeRead = async () => {
      source.beforeRead = () => undefined;
      await removal.run(TARGET, ann);
    };
    backing.disk.write('changed', 5 * 1024 ** 2);
    await backUp(TARGET, 'task-2');
    expect(backing.targets.all()).toHaveLength(1);
    expect([source.kept, source.openReadings]).toEqual([[], 0]);
  });

  test('succeeds when a context does not answer, and says where checkpoints may remain', async () => {
    await backUp(TARGET, 'task-1');
    source.endAll = () => Promise.reject(new Error('It does not answer.'));
    await removal.run(TARGET, ann);
    expect(backing.targets.all().map(({ id }) => id)).toEqual([OTHER]);
    expect(JSON.stringify(backing.auditLog.entries)).toContain('the checkpoints in lab remain');
  });
});

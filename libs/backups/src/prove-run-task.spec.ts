import { DomainError, formatRef, type BootProof } from '@headgate/domain-contracts';
import { MemoryBootProof, recordingStepContext } from '@headgate/testing';
import { tagsOf } from './backup-point.js';
import { BackupTask, type BackedUp } from './backup-task.js';
import { ProveRunTask, type ProveRunInput } from './prove-run-task.js';
import { ProveTask } from './prove-task.js';
import { CleanTask } from './target-care.js';
import { BackingUp } from './testing/backing-up.js';
import { MemoryProofs, MemorySigner } from './testing/memory-proofs.js';

const TARGET = 'feed000000000001';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;

describe('the boots of the new backups of a run', () => {
  let backing: BackingUp;
  let proofs: MemoryProofs;
  let boots: MemoryBootProof;
  let task: ProveRunTask;

  const backUp = async (id: string): Promise<string> => {
    const input = { ref: formatRef(backing.web), uid: 'uid-web', target: TARGET };
    return ((await backing.run(new BackupTask(backing), input, id)) as BackedUp).point;
  };
  /** Carries out all steps. @returns the result of the first one */
  const run = async (input: ProveRunInput, more: object = {}): Promise<unknown> => {
    const results = new Map<string, unknown>();
    for (const step of task.steps(input)) {
      const context = recordingStepContext(input, { task: 'run-1' });
      results.set(
        step.name,
        await step.run({ ...context, ...more, result: <T>(name: string) => results.get(name) as T }),
      );
    }
    return results.get('prove');
  };
  const prove = (tasks: readonly string[]) => run({ target: TARGET, tasks });

  beforeEach(async () => {
    backing = await BackingUp.open();
    proofs = new MemoryProofs();
    boots = backing.lab.require('bootProof') as BootProof as MemoryBootProof;
    const proof = new ProveTask({ ...backing, proofs, signer: new MemorySigner(), version: '1.2.3' });
    const cleanUp = new CleanTask({ ...backing, proofs });
    task = new ProveRunTask({ ...backing, proofs, proof, cleanUp });
  });

  test('are of its own points only, each with an ID of its own', async () => {
    const [first, second, other] = [await backUp('backup-1'), await backUp('backup-2'), await backUp('backup-3')];
    expect(await prove(['backup-1', 'backup-2'])).toEqual({ booted: 2, skipped: 0, failures: [] });
    expect([first, second, other].map((point) => proofs.of(TARGET, point)?.certificate.outcome)).toEqual([
      'booted',
      'booted',
      undefined,
    ]);
    const ids = boots.booted.map(({ id }) => id);
    expect(ids).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect(new Set(ids).size).toBe(2);
  });

  test('continue after a restart without those that have a certificate, and remove the guest that was left', async () => {
    const points = [await backUp('backup-1'), await backUp('backup-2')];
    await prove(['backup-1']);
    const left: string[] = [];
    boots.discard = async (id) => void left.push(id);
    const input: ProveRunInput = { target: TARGET, tasks: ['backup-1', 'backup-2'] };
    expect(await run(input, { attempt: 2 })).toMatchObject({ booted: 2 });
    expect(proofs.stored.map(({ document }) => document.certificate.point.id)).toEqual(points);
    expect(left).toEqual([boots.booted.at(-1)?.id]);
  });

  test('fail with the name of a VM that does not boot, after all were tried', async () => {
    await backUp('backup-1');
    await backUp('backup-2');
    const sign = boots.sign;
    boots.sign = undefined;
    boots.whileBooting = () => void (boots.booted.length > 1 && (boots.sign = sign));
    await expect(prove(['backup-1', 'backup-2'])).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(/^1 of 2 backups have no proof\. web: .*did not boot/),
    });
    expect(proofs.stored.map(({ document }) => document.certificate.outcome).sort()).toEqual(['booted', 'failed']);
    // Nothing is booted twice, and the task still fails.
    await expect(prove(['backup-1', 'backup-2'])).rejects.toThrow('1 of 2 backups');
    expect(proofs.stored).toHaveLength(2);
  });

  test('skip VMs whose context boots no backups, and fail for a context that is gone', async () => {
    await backUp('backup-1');
    boots.boot = () => Promise.reject(new DomainError('NOT_SUPPORTED', 'There is no KVM.'));
    expect(await prove(['backup-1'])).toMatchObject({ booted: 0, skipped: 1 });
    const lost = { uid: 'uid-db', ref: 'vm/gone/default/db', consistency: 'frozen', task: 'backup-2' } as const;
    const tags = tagsOf({ ...lost, series: TARGET, sizeBytes: 1 });
    backing.stores.store.stored.push({ id: 'ee'.repeat(32), time: '2026-01-01T00:00:00.000Z', tags, files: new Map() });
    await expect(prove(['backup-2'])).rejects.toThrow(/^1 of 1 backups have no proof\. db: /);
  });

  test('end with the reason of a cancellation', async () => {
    await backUp('backup-1');
    const cancel = new AbortController();
    boots.whileBooting = () => cancel.abort(new Error('canceled'));
    const input = { target: TARGET, tasks: ['backup-1'] };
    await expect(run(input, { signal: cancel.signal })).rejects.toThrow('canceled');
    expect(proofs.stored).toEqual([]);
  });

  test('come before the clean-up, which takes place also when one fails', async () => {
    const old = await backUp('backup-1');
    const clean = { target: TARGET, rules: { last: 1 }, timeZone: 'UTC', onlyIfProved: true };
    backing.clock.advance(60_000);
    const middle = await backUp('backup-2');
    await run({ target: TARGET, tasks: ['backup-2'], clean });
    const left = () => backing.stores.store.stored.map(({ id }) => id);
    expect([left().includes(old), left().includes(middle)]).toEqual([false, true]);
    backing.clock.advance(60_000);
    const newest = await backUp('backup-3');
    boots.sign = undefined;
    await expect(run({ target: TARGET, tasks: ['backup-3'], clean })).rejects.toThrow('1 of 1 backups');
    expect(left().sort()).toEqual([middle, newest].sort());
    expect(backing.stores.store.pruned).toBe(2);
  });
});

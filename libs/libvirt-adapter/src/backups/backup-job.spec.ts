import { DomainError, SILENT_LOG } from '@headgate/domain-contracts';
import type { BackupOutcome } from '../connection/backup-operations.js';
import { BackupJob, type BackupJobDeps } from './backup-job.js';
import type { RecordedCheckpoints } from './recorded-checkpoints.js';

const UUID = '5f0c2c4e-6f1e-4f0b-9a53-0d6c5a3f9d11';
const never = new AbortController().signal;

describe('BackupJob', () => {
  const finish = (
    outcome: () => Promise<BackupOutcome>,
    read: () => Promise<{ isActive: boolean }> = async () => ({ isActive: true }),
  ): Promise<void> => {
    const backups = { runningBackup: async () => undefined, backupOutcome: outcome };
    const deps = { connection: { backups }, editor: { read }, log: SILENT_LOG } as unknown as BackupJobDeps;
    return new BackupJob(deps, {} as RecordedCheckpoints).finish(UUID, never);
  };
  const canceled = async (): Promise<BackupOutcome> => ({ isComplete: false, reason: 'it was canceled' });

  test('a complete copy needs no other look at the VM', async () => {
    const lost = new DomainError('BACKEND_UNREACHABLE', 'lost');
    const attempt = finish(
      async () => ({ isComplete: true }),
      () => Promise.reject(lost),
    );
    await expect(attempt).resolves.toBeUndefined();
  });

  test('reports why libvirt ended the copy of a VM that still runs', async () => {
    await expect(finish(canceled)).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: 'The disk was not copied: it was canceled.',
    });
  });

  test.each<[string, () => Promise<BackupOutcome>, () => Promise<{ isActive: boolean }>]>([
    ['has crashed', canceled, async () => ({ isActive: false })],
    ['was deleted', canceled, () => Promise.reject(new DomainError('INSTANCE_NOT_FOUND', 'gone'))],
    ['has stopped', () => Promise.reject(new DomainError('WRONG_STATE', 'stopped')), async () => ({ isActive: false })],
  ])('says so when the VM %s', async (_title, outcome, read) => {
    await expect(finish(outcome, read)).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: 'The disk was not copied: the VM stopped or crashed meanwhile.',
    });
  });

  test('does not hide that libvirt is unreachable', async () => {
    const lost = new DomainError('BACKEND_UNREACHABLE', 'lost');
    await expect(finish(canceled, () => Promise.reject(lost))).rejects.toBe(lost);
  });
});

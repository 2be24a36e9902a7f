import { DomainError, messageOf } from '@headgate/domain-contracts';
import {
  LockedError,
  LostLockError,
  PathNotFoundError,
  RepositoryError,
  SnapshotNotFoundError,
} from '@headgate/restic-repository';

/** The errors of a repository and of its file system in terms of the service. */
export function translated(error: unknown): DomainError {
  if (DomainError.is(error)) return error;
  const options = { cause: error };
  if (error instanceof LockedError)
    return new DomainError(
      'BUSY',
      `The backup target is used by ${error.holder.hostname} (process ${error.holder.pid}): wait until that has ended.`,
      { ...options, details: { holder: error.holder } },
    );
  if (error instanceof LostLockError)
    return new DomainError('BACKEND_FAILED', 'The lock of the backup target was lost: it may be too slow.', options);
  if (error instanceof SnapshotNotFoundError || error instanceof PathNotFoundError)
    return new DomainError('BACKUP_POINT_NOT_FOUND', 'The target does not have this backup.', options);
  if (error instanceof RepositoryError)
    return new DomainError('BACKEND_FAILED', `The backup target: ${messageOf(error)}`, options);
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new DomainError('INSUFFICIENT_STORAGE', 'The backup target is full.', options);
    case 'EROFS':
      return new DomainError('BACKEND_FAILED', 'The file system of the backup target is read-only.', options);
    case 'EACCES':
    case 'EPERM':
      return new DomainError(
        'BACKEND_FAILED',
        'The service may not write to the folder of the backup target.',
        options,
      );
    default:
      return new DomainError('BACKEND_FAILED', `The backup target failed: ${messageOf(error)}.`, options);
  }
}

/** Passes on the reason of a cancellation, and errors of the source of a backup. */
export async function translating<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw translated(error);
  }
}

import { ConfigError } from '@headgate/nest-kit';
import { DirectoryInUseError, DirectoryLock } from '@headgate/sqlite';

/**
 * Gives the data directory to this process. Call it before any backend is opened: a backend removes the
 * leftovers of an earlier process there, which may belong to a service that still runs.
 * @throws ConfigError when another service uses the directory
 */
export function claimDataDir(path: string): DirectoryLock {
  try {
    return DirectoryLock.acquire(path);
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    throw new ConfigError(
      path,
      ['another service uses this directory; stop it, or choose another with --data-dir DIR'],
      {
        cause: error,
      },
    );
  }
}

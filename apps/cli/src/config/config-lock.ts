import { chmodSync } from 'node:fs';
import { EXIT_CODES } from '../exit-codes.js';
import { ClientError } from '../client/client-error.js';

const PATIENCE_MS = 30_000;

/**
 * Runs the work while no other process holds the lock. The lock is one of SQLite's on a file: the kernel releases it
 * when its process ends in any way, so none is left behind.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const { DatabaseSync } = await import('node:sqlite');
  const lock = new DatabaseSync(path, { timeout: PATIENCE_MS });
  try {
    chmodSync(path, 0o600);
    lock.exec('BEGIN EXCLUSIVE');
  } catch {
    lock.close();
    throw new ClientError(
      'CONFIG_LOCKED',
      `Another headgate is changing the configuration and does not end. ${path} is its lock.`,
      EXIT_CODES.conflict,
    );
  }
  try {
    return await work();
  } finally {
    lock.close();
  }
}

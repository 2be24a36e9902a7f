import { fieldsOf, numberOf, stringOf } from '../format/json.js';
import { DamagedError } from '../model/errors.js';

/** The content of a lock file. */
export interface LockFile {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly exclusive: boolean;
  readonly hostname: string;
  readonly username: string;
  readonly pid: number;
}

export const STALE_AFTER_MS = 30 * 60_000;

export function encodeLock({ time, exclusive, hostname, username, pid }: LockFile): unknown {
  return { time: new Date(time).toISOString(), exclusive, hostname, username, pid };
}

/** @throws DamagedError */
export function decodeLock(value: unknown, subject: string): LockFile {
  const fields = fieldsOf(value, subject);
  const time = Date.parse(stringOf(fields, 'time', subject));
  if (Number.isNaN(time)) throw new DamagedError(`${subject} has no time.`, subject);
  return {
    time,
    exclusive: fields['exclusive'] === true,
    hostname: stringOf(fields, 'hostname', subject),
    username: stringOf(fields, 'username', subject),
    pid: numberOf(fields, 'pid', subject),
  };
}

/** restic's rule: a lock is stale after 30 minutes, or when its process on this machine is gone. */
export function isStale(lock: LockFile, now: number, hostname: string): boolean {
  if (now - lock.time > STALE_AFTER_MS) return true;
  return lock.hostname === hostname && !processExists(lock.pid);
}

function processExists(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

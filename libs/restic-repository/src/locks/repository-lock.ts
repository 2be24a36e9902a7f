import { userInfo } from 'node:os';
import { DamagedError, FileNotFoundError, LockedError, LostLockError } from '../model/errors.js';
import type { RepositoryClock } from '../model/types.js';
import type { SealedFiles } from '../store/sealed-files.js';
import { surviveHangups } from './hangups.js';
import { decodeLock, encodeLock, isStale, type LockFile, STALE_AFTER_MS } from './lock-file.js';

/** restic's: another process that has looked for locks at the same time has written its own after this. */
const SETTLE_MS = 200;
const REFRESH_MS = 5 * 60_000;
/** Others may remove the lock after 30 minutes, so the operation ends before. */
const LOST_AFTER_MS = STALE_AFTER_MS - 1.5 * REFRESH_MS;

export interface LockDeps {
  readonly files: SealedFiles;
  readonly clock: RepositoryClock;
  readonly hostname: string;
}

/** A lock in the repository that other processes, including restic, respect. It is renewed until it is released. */
export class RepositoryLock {
  private readonly lost = new AbortController();
  private cancelRefresh = (): void => undefined;
  private refreshing: Promise<void> = Promise.resolve();
  private refreshedAt: number;
  private isReleased = false;

  private constructor(
    private readonly deps: LockDeps,
    private readonly isExclusive: boolean,
    private name: string,
    private readonly allowHangups: () => void,
  ) {
    this.refreshedAt = deps.clock.now();
    this.armRefresh();
  }

  /** Aborted when the lock is lost. */
  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /**
   * Any number of shared locks, or a single exclusive one. Stale locks are removed.
   * @throws LockedError, and DamagedError for a lock that can't be read
   */
  static async acquire(deps: LockDeps, isExclusive: boolean): Promise<RepositoryLock> {
    await refuseConflicts(deps, isExclusive, undefined);
    // Before the lock exists, because restic may look at it at once.
    const allowHangups = surviveHangups();
    let name: string;
    try {
      name = await writeLock(deps, isExclusive);
    } catch (error) {
      allowHangups();
      throw error;
    }
    const lock = new RepositoryLock(deps, isExclusive, name, allowHangups);
    try {
      await new Promise<void>((resolve) => deps.clock.after(SETTLE_MS, resolve));
      await refuseConflicts(deps, isExclusive, lock.name);
      return lock;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** @throws LockedError while there is an exclusive lock; DamagedError for a lock that can't be read */
  static async expectShareable(deps: LockDeps): Promise<void> {
    await refuseConflicts(deps, false, undefined);
  }

  /** @throws LostLockError if another process has removed the lock, or it could not be renewed in time */
  async verify(): Promise<void> {
    await this.refreshing;
    const names = await this.deps.files.target.list('locks');
    if (!names.some(({ name }) => name === this.name)) this.lose('has been removed');
    if (this.signal.aborted) throw this.signal.reason;
  }

  /** Removes the lock. A failure is ignored: the lock becomes stale. */
  async release(): Promise<void> {
    if (this.isReleased) return;
    this.isReleased = true;
    this.cancelRefresh();
    await this.refreshing;
    await this.deps.files.target.remove('locks', this.name).catch(() => undefined);
    this.allowHangups();
  }

  private armRefresh(): void {
    this.cancelRefresh = this.deps.clock.after(REFRESH_MS, () => {
      this.refreshing = this.refresh().finally(() => {
        if (!this.isReleased && !this.signal.aborted) this.armRefresh();
      });
    });
  }

  /** The new lock is there before the old one goes. */
  private async refresh(): Promise<void> {
    try {
      const now = this.deps.clock.now();
      const renewed = await writeLock(this.deps, this.isExclusive);
      const old = this.name;
      this.name = renewed;
      this.refreshedAt = now;
      await this.deps.files.target.remove('locks', old);
    } catch (error) {
      if (error instanceof FileNotFoundError) this.lose('has been removed');
      else if (this.deps.clock.now() - this.refreshedAt > LOST_AFTER_MS) this.lose('could not be renewed', error);
    }
  }

  private lose(reason: string, cause?: unknown): void {
    this.lost.abort(new LostLockError(`The lock of the operation ${reason}, so the operation ended.`, { cause }));
  }
}

async function writeLock({ files, clock, hostname }: LockDeps, exclusive: boolean): Promise<string> {
  const lock: LockFile = { time: clock.now(), exclusive, hostname, username: userInfo().username, pid: process.pid };
  return files.save('locks', encodeLock(lock));
}

async function refuseConflicts(deps: LockDeps, isExclusive: boolean, own: string | undefined): Promise<void> {
  for (const { name, size } of await deps.files.target.list('locks')) {
    // Empty files are what interrupted uploads leave behind on some targets.
    if (name === own || size === 0) continue;
    const lock = await readLock(deps, name);
    if (lock === undefined) continue;
    if (isStale(lock, deps.clock.now(), deps.hostname)) await removeStale(deps, name);
    else if (isExclusive || lock.exclusive) throw lockedBy(lock);
  }
}

async function readLock({ files }: LockDeps, name: string): Promise<LockFile | undefined> {
  try {
    return decodeLock(await files.load('locks', name), `locks/${name}`);
  } catch (error) {
    if (error instanceof FileNotFoundError) return undefined;
    if (!(error instanceof DamagedError)) throw error;
    const advice = 'If no other process uses the repository, delete this file.';
    throw new DamagedError(`${error.message} ${advice}`, error.subject);
  }
}

async function removeStale({ files }: LockDeps, name: string): Promise<void> {
  try {
    await files.target.remove('locks', name);
  } catch (error) {
    if (!(error instanceof FileNotFoundError)) throw error;
  }
}

function lockedBy({ exclusive, hostname, pid, time }: LockFile): LockedError {
  const kind = exclusive ? 'exclusively ' : '';
  const since = new Date(time).toISOString();
  return new LockedError(`The repository is ${kind}locked by process ${pid} on ${hostname} since ${since}.`, {
    hostname,
    pid,
    exclusive,
  });
}

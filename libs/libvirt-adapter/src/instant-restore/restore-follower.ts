import {
  DomainError,
  formatBytes,
  messageOf,
  type Clock,
  type InstantRestoreReport,
  type InstantRestoreSpec,
  type Log,
} from '@headgate/domain-contracts';
import type { DomainState } from '../connection/domain-state.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { DomainEditor } from '../domains/domain-editor.js';
import { isIoError } from '../domains/domain-status.js';
import type { KeyedLock } from '../locks/concurrency.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { Attempts } from './attempts.js';
import { copyStopped } from './copy-stopped.js';
import type { FillProgress } from './fill-progress.js';
import { servedTargets, withoutServedBacking } from './served-backing.js';
import type { WatchedDisks } from './watched-disks.js';

export interface FollowedRestore {
  readonly spec: InstantRestoreSpec;
  readonly socket: string;
  readonly disks: WatchedDisks;
  /** Of the disks of the spec, in its order. */
  readonly targets: readonly string[];
  readonly progress: FillProgress;
  readonly report: Pick<InstantRestoreReport, 'waits'>;
}

export interface RestoreFollowerDeps {
  readonly connection: LibvirtConnection;
  readonly editor: DomainEditor;
  readonly lock: KeyedLock;
  readonly pool: StoragePool;
  readonly clock: Clock;
  readonly log: Log;
  readonly createTemporaryFolder: () => Promise<string>;
}

const TICK_MS = 500;
/** A start of the VM waits for it. */
const SLICE_MS = 2000;
/** The first copies after a break fail while QEMU connects again. */
const USUAL_FAILURES = 3;

/**
 * Copies what the disks of a VM don't have yet, whether it runs or not, and lets its guest go on when it was paused
 * because a part of the backup could not be read. Every failure is tried again, because the guest needs the
 * rest: only the end of the VM, of the copy or of this process ends it.
 */
export class RestoreFollower {
  private readonly reads: Attempts;
  private readonly pulls: Attempts;
  private readonly resumes: Attempts;
  /** How far the file of each disk is complete, by its target, as copies of the stopped VM have found. */
  private readonly complete = new Map<string, number>();

  constructor(
    private readonly restore: FollowedRestore,
    private readonly deps: RestoreFollowerDeps,
  ) {
    this.reads = new Attempts(deps.clock);
    this.pulls = new Attempts(deps.clock);
    this.resumes = new Attempts(deps.clock);
  }

  async run(signal: AbortSignal): Promise<'complete' | 'absent'> {
    for (;;) {
      signal.throwIfAborted();
      const outcome = await this.advance(signal).catch((error: unknown) => this.explain(error, signal));
      if (outcome) return outcome;
      await this.deps.clock.delay(TICK_MS);
    }
  }

  private async advance(signal: AbortSignal): Promise<'complete' | 'absent' | undefined> {
    const { spec, progress, socket } = this.restore;
    const domain = await this.deps.connection.domains.inspect(spec.id);
    if (!domain) return 'absent';
    if (!(await this.canRead())) return undefined;
    const remaining = servedTargets(describeDomain(domain.xml), socket);
    progress.completeAllBut(remaining);
    if (remaining.length === 0) return (await this.finish()) ? 'complete' : undefined;
    if (domain.state.isActive) await this.pull(remaining[0] ?? '', domain.state);
    else await this.copy(signal);
    return undefined;
  }

  /** Tries again to read what could not be read. */
  private async canRead(): Promise<boolean> {
    const { disks, report } = this.restore;
    if (disks.problem === undefined) return true;
    if (!this.reads.isDue) return false;
    this.reads.begun();
    if (await disks.retry()) {
      this.reads.succeeded();
      this.pulls.succeeded();
      this.resumes.succeeded();
      return true;
    }
    report.waits(disks.problem ?? '');
    return false;
  }

  private async pull(target: string, state: DomainState): Promise<void> {
    const { spec, progress, report } = this.restore;
    const { connection, pool } = this.deps;
    const job = await connection.blocks.job(spec.id, target);
    if (job && progress.reach(target, job.current)) this.pulls.succeeded();
    if (!job && this.pulls.isDue) {
      await connection.blocks.pull(spec.id, target);
      this.pulls.begun();
      if (this.pulls.count > USUAL_FAILURES) {
        const free = (await pool.space())?.availableBytes ?? 0;
        report.waits(`The copy of ${target} has ended early. The storage pool has ${formatBytes(free)} free.`);
      }
    }
    // QEMU is connected then.
    if (job) await this.resume(state);
  }

  /** Only a guest that was paused by an error: a user may have paused it as well. */
  private async resume(state: DomainState): Promise<void> {
    if (!isIoError(state)) return this.resumes.succeeded();
    if (!this.resumes.isDue) return;
    this.resumes.begun();
    await this.deps.connection.domains.resume(this.restore.spec.id);
  }

  /** A part of the rest of a VM that is off. */
  private async copy(signal: AbortSignal): Promise<void> {
    const { spec, disks, targets, progress, socket } = this.restore;
    const { connection, lock, clock } = this.deps;
    await lock.run(spec.id, async () => {
      const domain = await connection.domains.inspect(spec.id);
      if (!domain || domain.state.isActive) return;
      const description = describeDomain(domain.xml);
      const [target] = servedTargets(description, socket);
      const disk = spec.disks[targets.indexOf(target ?? '')];
      const path = description.disks.find((one) => one.target === target)?.path;
      if (target === undefined || !disk || path === undefined) return;
      const offset = await copyStopped(
        { path, sizeBytes: disk.sizeBytes, read: (at, length) => disks.read(disk, at, length) },
        { from: this.complete.get(target) ?? 0, until: clock.now() + SLICE_MS, signal },
        this.deps,
      );
      this.complete.set(target, offset);
      if (offset < disk.sizeBytes) return void progress.reach(target, offset);
      await this.release([target]);
    });
  }

  /** @returns false if another program has just started the VM with disks that need the backup */
  private async finish(): Promise<boolean> {
    const { spec, targets, socket } = this.restore;
    const { connection, editor, lock, log } = this.deps;
    return lock.run(spec.id, async () => {
      const domain = await connection.domains.inspect(spec.id);
      if (!domain) return false;
      await this.release(targets);
      const { description, isActive } = await editor.read(spec.id);
      if (servedTargets(description, socket).length > 0) return false;
      await editor.updateMetadata(spec.id, ({ pending: _done, ...metadata }) => metadata);
      if (isActive) await this.resume(domain.state);
      log.info({ domain: description.name }, 'all of a VM was copied from its backup');
      return true;
    });
  }

  /** At its next start, the disks of the VM need the backup no longer. */
  private async release(targets: readonly string[]): Promise<void> {
    const { domains } = this.deps.connection;
    const { id } = this.restore.spec;
    await domains.define(withoutServedBacking(await domains.persistentXml(id), targets));
  }

  private explain(error: unknown, signal: AbortSignal): undefined {
    signal.throwIfAborted();
    const { disks, report } = this.restore;
    // It is reported with the next attempt.
    if (disks.problem !== undefined) return undefined;
    if (!DomainError.is(error)) throw error;
    // The VM was stopped, started or deleted meanwhile.
    if (!DomainError.is(error, 'INSTANCE_NOT_FOUND', 'WRONG_STATE', 'BUSY')) report.waits(messageOf(error));
    return undefined;
  }
}

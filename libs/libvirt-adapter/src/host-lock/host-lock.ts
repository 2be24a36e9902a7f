import { createHash, randomBytes } from 'node:crypto';
import { DomainError, messageOf, type Clock, type Log } from '@headgate/domain-contracts';
import type { StoragePool } from '../storage/storage-pool.js';
import { KeyedLock } from '../locks/concurrency.js';
import { formatLockName, parseLockName, type LockTicket } from '../storage/lock-name.js';
import { hasEnded, ownProcess, type ServiceProcess } from '../host/service-process.js';

export interface HostLockDeps {
  readonly pool: Pick<StoragePool, 'lockNames' | 'addLock' | 'removeLock'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Replaces this process in tests. */
  readonly process?: ServiceProcess;
  /** Serializes the work of this process first. */
  readonly local?: KeyedLock;
}

/** A holder renews its ticket this often, which other machines see. */
const RENEWAL_MS = 5000;
/** A ticket that was not renewed for this long belongs to a service that has ended or hangs. */
export const EXPIRY_MS = 30_000;
/** Its holder stops to write earlier, because its clock and those of others may run at different speeds. */
const SAFE_MS = 20_000;
const POLL_MS = 50;
const MAX_POLL_MS = 500;
/** How long a request waits for another service: long enough to see that it has ended. */
export const MAX_WAIT_MS = 40_000;

/** The tickets of this process, whose other tickets are left from backends that were closed. */
const OWN_TICKETS = new Set<string>();

interface Held {
  readonly key: string;
  readonly ticket: string;
  renewal: number;
  renewedAt: number;
  /** Whether it was released, or its holder did not respond for too long. */
  isOver: boolean;
  cancel: () => void;
}

/**
 * A lock that all services of one libvirt share, wherever they run. Its tickets are empty volumes in the storage pool,
 * because libvirt has no locks of its own.
 *
 * The algorithm is the one-bit mutual exclusion of Burns and Lamport: a service adds a ticket and reads all of them. It
 * holds the lock when there is no other; of two, the one with the larger number withdraws. Tickets are never reused, so
 * that those of ended services can be removed by anyone.
 */
export class HostLock extends KeyedLock {
  private readonly process: ServiceProcess;
  private readonly local: KeyedLock;
  private readonly held = new Map<string, Held>();
  /** When a renewal of a foreign ticket was seen first. */
  private readonly seen = new Map<string, { readonly renewal: number; readonly since: number }>();
  /** Names of tickets that could not be removed. */
  private readonly leftovers = new Set<string>();
  private hasWarned = false;

  constructor(private readonly deps: HostLockDeps) {
    super();
    this.process = deps.process ?? ownProcess();
    this.local = deps.local ?? new KeyedLock();
  }

  /** @throws DomainError BUSY when another service does not release it in time */
  override run<T>(key: string, task: () => Promise<T>): Promise<T> {
    return this.local.run(key, async () => {
      const held = await this.acquire(key);
      if (!held) return task();
      try {
        return await task();
      } finally {
        await this.release(held);
      }
    });
  }

  /** A process that was suspended for long may have lost its locks. */
  override expectHeld(key: string): void {
    const held = this.held.get(key);
    if (held && (held.isOver || this.isTooOld(held)))
      throw new DomainError(
        'BUSY',
        'This service did not respond for too long, and another one may change the VM now: try again.',
      );
  }

  /**
   * @returns undefined if the pool can't be used: then only this process is kept away, so that VMs can be deleted and
   *   stopped
   */
  private async acquire(key: string): Promise<Held | undefined> {
    const { clock } = this.deps;
    const held: Held = {
      key,
      ticket: randomBytes(6).toString('hex'),
      renewal: 0,
      renewedAt: clock.now(),
      isOver: false,
      cancel: () => undefined,
    };
    const deadline = clock.now() + MAX_WAIT_MS;
    let isPlaced = false;
    for (let pause = POLL_MS; ; pause = Math.min(2 * pause, MAX_POLL_MS)) {
      try {
        // A waiting ticket shows that its owner is alive as well.
        if (isPlaced && clock.now() - held.renewedAt >= RENEWAL_MS) await this.renew(held);
        const others = await this.others(held);
        if (isPlaced && others.length === 0) break;
        if (!isPlaced && others.length === 0) {
          OWN_TICKETS.add(held.ticket);
          await this.deps.pool.addLock(this.nameOf(held));
          [isPlaced, held.renewedAt] = [true, clock.now()];
          continue;
        }
        const [other] = others;
        const mustYield = others.some(({ ticket }) => ticket < held.ticket);
        if (isPlaced && (mustYield || clock.now() >= deadline)) {
          await this.remove(this.nameOf(held));
          isPlaced = false;
        }
        if (clock.now() >= deadline) throw busy(other);
      } catch (error) {
        OWN_TICKETS.delete(held.ticket);
        if (isPlaced) await this.remove(this.nameOf(held));
        if (DomainError.is(error, 'BUSY', 'BACKEND_UNREACHABLE', 'BACKEND_FORBIDDEN', 'BACKEND_TIMEOUT')) throw error;
        this.warn(error);
        return undefined;
      }
      await clock.delay(pause);
    }
    this.held.set(key, held);
    this.renewLater(held);
    return held;
  }

  private async release(held: Held): Promise<void> {
    held.cancel();
    held.isOver = true;
    OWN_TICKETS.delete(held.ticket);
    this.held.delete(held.key);
    await this.remove(this.nameOf(held));
  }

  private isTooOld({ renewedAt }: Held): boolean {
    return this.deps.clock.now() - renewedAt >= SAFE_MS;
  }

  private renewLater(held: Held): void {
    held.cancel = this.deps.clock.after(RENEWAL_MS, () => {
      // Others may have removed the ticket: it must not come back.
      if (this.isTooOld(held)) held.isOver = true;
      if (held.isOver) return;
      void this.renew(held)
        .catch((error: unknown) => this.warn(error))
        .finally(() => {
          if (!held.isOver) this.renewLater(held);
        });
    });
  }

  /** The new name exists before the old one is removed, so that there is a ticket at any moment. */
  private async renew(held: Held): Promise<void> {
    const before = this.nameOf(held);
    const startedAt = this.deps.clock.now();
    const next = { ...held, renewal: held.renewal + 1 };
    await this.deps.pool.addLock(this.nameOf(next));
    // Released meanwhile.
    if (held.isOver) return this.remove(this.nameOf(next));
    [held.renewal, held.renewedAt] = [next.renewal, startedAt];
    await this.remove(before);
  }

  /** The tickets of services that are alive. Those of others are removed. */
  private async others(own: Held): Promise<LockTicket[]> {
    const { pool, clock, log } = this.deps;
    for (const name of this.leftovers) await this.remove(name);
    const names = await pool.lockNames();
    const tickets = names.flatMap((name) => parseLockName(name) ?? []);
    const present = new Set(tickets.map(({ ticket }) => ticket));
    for (const ticket of this.seen.keys()) if (!present.has(ticket)) this.seen.delete(ticket);
    const mine = new Set([own.ticket, ...[...this.held.values()].map(({ ticket }) => ticket)]);
    const live: LockTicket[] = [];
    const key = keyOf(own.key);
    for (const found of tickets) {
      if (mine.has(found.ticket)) continue;
      const before = this.seen.get(found.ticket);
      if (!before || before.renewal < found.renewal)
        this.seen.set(found.ticket, { renewal: found.renewal, since: clock.now() });
      const since = this.seen.get(found.ticket)?.since ?? clock.now();
      const isExpired = clock.now() - since >= EXPIRY_MS;
      if (!isExpired && !this.isLeft(found)) {
        if (found.key === key) live.push(found);
        continue;
      }
      log.warn({ pid: found.process.pid, isExpired }, 'removed the lock of another service that has ended or hangs');
      await this.remove(formatLockName(found));
    }
    return live;
  }

  /** Whether nothing will ever remove a ticket but another service. */
  private isLeft({ process, ticket }: LockTicket): boolean {
    const { machine, pid, start } = this.process;
    const isOwn = process.machine === machine && process.pid === pid && process.start === start;
    return isOwn ? !OWN_TICKETS.has(ticket) : hasEnded(process, this.process);
  }

  private async remove(name: string): Promise<void> {
    try {
      await this.deps.pool.removeLock(name);
      this.leftovers.delete(name);
    } catch {
      this.leftovers.add(name);
    }
  }

  private nameOf({ key, ticket, renewal }: Pick<Held, 'key' | 'ticket' | 'renewal'>): string {
    return formatLockName({ key: keyOf(key), ticket, process: this.process, renewal });
  }

  private warn(error: unknown): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    this.deps.log.warn(
      { reason: messageOf(error) },
      'the storage pool has no room for locks, which keep other services away',
    );
  }
}

const keyOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 16);

const busy = (other: LockTicket | undefined): DomainError =>
  new DomainError(
    'BUSY',
    `Another service${other ? `, process ${other.process.pid} of its machine,` : ''} is changing this VM: try again when it has finished.`,
  );

import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  Clock,
  formatRef,
  messageOf,
  type Instance,
  type InstanceIdentity,
  type Log,
} from '@headgate/domain-contracts';
import { FleetReader, type FleetEvent } from '@headgate/fleet';
import { InstanceRecords } from '@headgate/moves';
import { LOGGER } from '../platform/tokens.js';

/** An instance that appears later in another context was not migrated, but restored. */
const ARRIVAL_LIMIT_MS = 10 * 60_000;
/** More instances at the same time are deleted, not migrated. */
const MAX_DEPARTED = 1000;

interface Departed {
  readonly instance: Instance;
  readonly at: number;
}

/**
 * A live migration between two contexts gives a VM another ref. The VM is recognized by its ID, which it keeps, when it
 * is gone from one context and listed by another one. So it does not matter which program migrated it, or whether the
 * service was restarted meanwhile.
 */
@Injectable()
export class MigratedInstances implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** By ID, in the order in which they left. */
  private readonly departed = new Map<string, Departed>();
  private unsubscribe = (): void => undefined;
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly fleet: FleetReader,
    private readonly records: InstanceRecords,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly log: Log,
  ) {}

  onApplicationBootstrap(): void {
    this.unsubscribe = this.fleet.subscribe((event) => this.observe(event));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.unsubscribe();
    await this.last;
  }

  private observe(event: FleetEvent): void {
    if (event.type === 'removed') return event.isDetached ? undefined : this.leave(event.instance);
    if (event.type === 'changed' && this.departed.size > 0) this.arrive(event.entry.instance);
  }

  private leave(instance: Instance): void {
    const now = this.clock.now();
    for (const [uid, { at }] of this.departed) {
      if (now - at <= ARRIVAL_LIMIT_MS && this.departed.size < MAX_DEPARTED) break;
      this.departed.delete(uid);
    }
    this.departed.set(instance.uid, { instance, at: now });
    // A migration keeps the name. The destination often lists the VM before the source has removed it.
    for (const { context } of this.fleet.states()) {
      const other = this.fleet.get({ ...instance.ref, context });
      if (other?.uid === instance.uid) this.arrive(other);
    }
  }

  private arrive({ uid, ref }: Instance): void {
    const departed = this.departed.get(uid);
    if (!departed || this.clock.now() - departed.at > ARRIVAL_LIMIT_MS) return;
    this.departed.delete(uid);
    const [from, to] = [formatRef(departed.instance.ref), formatRef(ref)];
    // The backend only listed it again.
    if (from === to) return;
    this.last = this.last.then(() => this.follow({ ref: from, uid }, { ref: to, uid }));
  }

  private async follow(from: InstanceIdentity, to: InstanceIdentity): Promise<void> {
    try {
      await this.records.carryOver(from, to);
      await this.records.forget(from);
    } catch (error) {
      this.log.warn({ ref: from.ref, to: to.ref, reason: messageOf(error) }, 'the folder did not follow a migration');
    }
  }
}

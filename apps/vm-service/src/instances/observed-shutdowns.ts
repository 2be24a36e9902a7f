import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  Clock,
  isVm,
  PowerObserver,
  workOn,
  type PowerAction,
  type PowerOptions,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import { FleetReader, type FleetEntry, type FleetEvent } from '@headgate/fleet';
import { ShutdownEstimates } from '@headgate/moves';
import { PastTimes } from '@headgate/tasks';

/** A guest that stops later ignored the request, and was stopped in another way. */
const LIMIT_MS = 180_000;

/**
 * Measures how long a guest takes to shut down whenever a user stops its VM, so that the downtime of its first move can
 * be estimated, and that plans of shutdowns have durations. The backends accept the request immediately; the list shows
 * when the guest has stopped.
 */
@Injectable()
export class ObservedShutdowns extends PowerObserver implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** When the shutdown was requested, by the ID of the VM, in the order of the requests. */
  private readonly begun = new Map<string, number>();
  private unsubscribe = (): void => undefined;

  constructor(
    private readonly fleet: FleetReader,
    private readonly estimates: ShutdownEstimates,
    private readonly clock: Clock,
    private readonly times: PastTimes,
  ) {
    super();
  }

  onApplicationBootstrap(): void {
    this.unsubscribe = this.fleet.subscribe((event) => this.receive(event));
  }

  beforeApplicationShutdown(): void {
    this.unsubscribe();
  }

  override async observe(
    { uid, status }: VirtualMachine,
    action: PowerAction,
    { force = false }: PowerOptions,
    run: () => Promise<void>,
  ): Promise<void> {
    if (action !== 'stop' || force) this.begun.delete(uid);
    // A second request does not begin the shutdown again.
    else if (status === 'Running' && !this.begun.has(uid)) this.begin(uid);
    try {
      await run();
    } catch (error) {
      this.begun.delete(uid);
      throw error;
    }
  }

  private begin(uid: string): void {
    const now = this.clock.monotonic();
    for (const [earlier, at] of this.begun) {
      if (now - at <= LIMIT_MS) break;
      this.begun.delete(earlier);
    }
    this.begun.set(uid, now);
  }

  private receive(event: FleetEvent): void {
    if (event.type === 'changed') this.update(event.entry);
    else if (event.type === 'removed') this.begun.delete(event.instance.uid);
  }

  private update({ instance, stale }: FleetEntry): void {
    const { uid } = instance;
    const at = this.begun.get(uid);
    if (at === undefined) return;
    // Once its context is back, it is too late to know when the guest has stopped.
    if (stale) return void this.begun.delete(uid);
    if (!isVm(instance) || instance.status !== 'Stopped') return;
    this.begun.delete(uid);
    const elapsedMs = this.clock.monotonic() - at;
    if (elapsedMs > LIMIT_MS) return;
    this.estimates.record({ uid }, elapsedMs);
    this.times.record(workOn('stop', instance.ref), elapsedMs / 1000);
  }
}

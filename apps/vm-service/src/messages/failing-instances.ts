import { formatRef, isVm, type ContainerPhase, type Instance, type VmStatus } from '@headgate/domain-contracts';
import type { FleetEntry, FleetEvent, FleetReader } from '@headgate/fleet';

/** The statuses of an instance that does not run because of an error. */
const FAILED: ReadonlySet<VmStatus | ContainerPhase> = new Set([
  'CrashLoopBackOff',
  'ErrorUnschedulable',
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrorPvcNotFound',
  'DataVolumeError',
  'Failed',
]);

export const statusOf = (instance: Instance): VmStatus | ContainerPhase =>
  isVm(instance) ? instance.status : instance.phase;

/** Follows which instances have failed, so that a round does not look at the whole fleet. */
export class FailingInstances {
  private readonly entries = new Map<string, FleetEntry>();
  private unsubscribe = (): void => undefined;

  constructor(private readonly fleet: FleetReader) {}

  /** @param onChange called when an instance has failed or recovered, or a context has another state */
  start(onChange: () => void): void {
    for (const kind of ['vm', 'ct'] as const) for (const entry of this.fleet.all(kind)) this.see(entry);
    this.unsubscribe = this.fleet.subscribe((event) => {
      if (this.receive(event)) onChange();
    });
  }

  stop(): void {
    this.unsubscribe();
  }

  all(): Iterable<FleetEntry> {
    return this.entries.values();
  }

  /** The failed instance of a ref as text. */
  get(ref: string): FleetEntry | undefined {
    return this.entries.get(ref);
  }

  private receive(event: FleetEvent): boolean {
    if (event.type === 'status') return true;
    if (event.type === 'changed') return this.see(event.entry);
    return this.entries.delete(formatRef(event.instance.ref));
  }

  private see(entry: FleetEntry): boolean {
    const ref = formatRef(entry.instance.ref);
    if (!FAILED.has(statusOf(entry.instance))) return this.entries.delete(ref);
    const isNew = !this.entries.has(ref);
    this.entries.set(ref, entry);
    return isNew;
  }
}

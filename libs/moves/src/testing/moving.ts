import {
  Audit,
  BackendDirectory,
  DomainError,
  formatRef,
  InstanceDirectory,
  type Backend,
  type Instance,
  type InstanceIdentity,
  type InstanceRef,
} from '@headgate/domain-contracts';
import {
  MemoryAuditLog,
  buildContainer,
  buildVm,
  FixedClock,
  MEMORY_TRAITS,
  MemoryBackend,
  MemoryShutdownTimes,
  withStatus,
} from '@headgate/testing';
import { InstanceRecords } from '../instance-records.js';
import { MoveTask } from '../move-task.js';
import { PlanMove } from '../plan/plan-move.js';
import { Ledger } from '@headgate/reservations';
import { ShutdownEstimates } from '../estimates/shutdown-estimates.js';
import { Throughput } from '../estimates/throughput.js';

const MIB = 1024 ** 2;

class SomeBackends extends BackendDirectory {
  constructor(private readonly backends: readonly Backend[]) {
    super();
  }

  override all(): readonly Backend[] {
    return this.backends;
  }

  override get(context: string): Backend {
    const found = this.backends.find((backend) => backend.context === context);
    if (found) return found;
    throw new DomainError('CONTEXT_NOT_FOUND', `There is no context ${context}.`);
  }
}

export interface Wait {
  readonly ref: string;
  readonly isMet: (instance: Instance | undefined) => boolean;
}

/** The instances of backends in memory, without a fleet. */
class EngineDirectory extends InstanceDirectory {
  constructor(
    private readonly backends: readonly MemoryBackend[],
    private readonly waits: Wait[],
  ) {
    super();
  }

  override resolve(ref: InstanceRef): Instance {
    const found = this.get(ref);
    if (found) return found;
    throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${ref.namespace}/${ref.name}.`);
  }

  override get(ref: InstanceRef): Instance | undefined {
    const engine = this.backends.find(({ context }) => context === ref.context)?.engine;
    return engine?.all().find((one) => formatRef(one.ref) === formatRef(ref));
  }

  /** Nothing changes in memory unless someone asks for it, so there is nothing to wait for. */
  override async waitFor(ref: InstanceRef, isMet: Wait['isMet']): Promise<void> {
    this.waits.push({ ref: formatRef(ref), isMet });
  }
}

class KeptFolders extends InstanceRecords {
  /** The paths by ref. */
  readonly folders = new Map<string, string>();

  /** The IDs of the objects by their refs, as they were given. */
  readonly uids = new Map<string, string>();

  override async carryOver({ ref }: InstanceIdentity, to: InstanceIdentity): Promise<void> {
    const path = this.folders.get(ref);
    if (path === undefined || this.folders.has(to.ref)) return;
    this.folders.set(to.ref, path);
    this.uids.set(to.ref, to.uid);
  }

  override async forget({ ref }: InstanceIdentity): Promise<void> {
    this.folders.delete(ref);
  }
}

/**
 * Two contexts of the kind `memory`, and one of another kind that receives nothing. `lab` has the stopped VM `web` and
 * the container `box`, and the other kind has the container `shut`, which can't be moved.
 */
export class Moving {
  readonly lab: MemoryBackend;
  readonly other: MemoryBackend;
  readonly closed = new MemoryBackend('closed', {
    traits: { ...MEMORY_TRAITS, kind: 'closed' },
    unavailable: {
      diskIngest: 'Closed contexts receive nothing.',
      containerTransfer: 'Closed contexts keep their containers.',
    },
  });
  readonly clock = new FixedClock();
  readonly records = new KeptFolders();
  readonly shutdownTimes = new MemoryShutdownTimes();
  readonly audit = new MemoryAuditLog();
  /** What tasks waited for in the list. */
  readonly waits: Wait[] = [];
  readonly reservations = new Ledger({ clock: this.clock });
  readonly backends: BackendDirectory;
  readonly web = refOf('web');
  readonly disk = Buffer.alloc(5 * MIB);

  /** @param options.isSingleHost whether `lab` and `other` are single machines, between which guests are migrated */
  constructor({ isSingleHost = false } = {}) {
    const open = (context: string, peer: () => MemoryBackend): MemoryBackend =>
      isSingleHost
        ? new MemoryBackend(context, { traits: { ...MEMORY_TRAITS, isSingleHost }, peers: () => [peer()] })
        : new MemoryBackend(context);
    this.lab = open('lab', () => this.other);
    this.other = open('other', () => this.lab);
    this.backends = new SomeBackends([this.lab, this.other, this.closed]);
    this.disk.write('the beginning', 0);
    this.disk.fill('some data ', 3 * MIB + 100, 3 * MIB + 200_000);
    this.lab.engine.put(buildVm({ ref: { name: 'web' }, uid: 'uid-web', diskBytes: 8 * MIB, tags: ['prod'] }));
    this.lab.engine.disks.set(`${formatRef(this.web)} vda`, this.disk);
    this.lab.engine.put(buildContainer());
    this.closed.engine.put(buildContainer({ ref: { context: 'closed', name: 'shut' } }));
  }

  private get shared() {
    const shutdowns = new ShutdownEstimates(this.shutdownTimes);
    return { backends: this.backends, reservations: this.reservations, throughput: new Throughput(), shutdowns };
  }

  get directory(): InstanceDirectory {
    return new EngineDirectory([this.lab, this.other, this.closed], this.waits);
  }

  get planMove(): PlanMove {
    return new PlanMove({ ...this.shared, directory: this.directory });
  }

  get task(): MoveTask {
    const { records, clock } = this;
    return new MoveTask({
      ...this.shared,
      records,
      clock,
      directory: this.directory,
      audit: this.auditor,
    });
  }

  get auditor(): Audit {
    return new Audit(this.audit, this.clock);
  }

  start(name = 'web'): void {
    const { engine } = this.lab;
    engine.put(withStatus(engine.vm(refOf(name)), 'Running'));
  }

  /** What `other` has of the copy: its status and its disk. */
  copied(name = 'web'): { status: string; disk: Buffer | undefined } | undefined {
    const ref = { ...refOf(name), context: 'other' };
    const { engine } = this.other;
    return engine.has(ref)
      ? { status: engine.vm(ref).status, disk: engine.disks.get(`${formatRef(ref)} vda`) }
      : undefined;
  }
}

export const refOf = (name: string): InstanceRef & { readonly kind: 'vm' } => ({
  kind: 'vm',
  context: 'lab',
  namespace: 'default',
  name,
});

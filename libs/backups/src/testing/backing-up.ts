import {
  Audit,
  BackendDirectory,
  DomainError,
  formatRef,
  InstanceDirectory,
  type Instance,
  type InstanceQuery,
  type InstanceRef,
  type TaskDefinition,
} from '@headgate/domain-contracts';
import { buildVm, FixedClock, MemoryAuditLog, MemoryBackend, recordingStepContext } from '@headgate/testing';
import { MemoryStores, MemoryTargets, LastRetention } from './memory-stores.js';

const MIB = 1024 ** 2;

class OneBackend extends BackendDirectory {
  constructor(private readonly backend: MemoryBackend) {
    super();
  }

  override all() {
    return [this.backend];
  }

  override get(context: string) {
    if (context === this.backend.context) return this.backend;
    throw new DomainError('CONTEXT_NOT_FOUND', `There is no context ${context}.`);
  }
}

class EngineDirectory extends InstanceDirectory {
  constructor(private readonly backend: MemoryBackend) {
    super();
  }

  override resolve({ kind, namespace, name, uid }: InstanceQuery): Instance {
    const found = this.backend.engine
      .all()
      .find(({ ref }) => ref.kind === kind && ref.name === name && ref.namespace === namespace);
    if (found && (uid === undefined || found.uid === uid)) return found;
    throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${namespace}/${name}.`);
  }

  override get(ref: InstanceRef): Instance | undefined {
    return this.backend.engine.all().find((one) => formatRef(one.ref) === formatRef(ref));
  }

  override async waitFor(): Promise<void> {
    // Nothing changes in memory unless someone asks for it.
  }
}

/** A context `lab` with the VM `web`, and a target. */
export class BackingUp {
  readonly lab = new MemoryBackend('lab');
  readonly clock = new FixedClock();
  readonly auditLog = new MemoryAuditLog();
  readonly audit = new Audit(this.auditLog, this.clock);
  readonly targets = new MemoryTargets();
  readonly stores = new MemoryStores();
  readonly retention = new LastRetention();
  readonly backends = new OneBackend(this.lab);
  readonly directory = new EngineDirectory(this.lab);
  readonly folders = { folderOf: (): string => 'prod/web' };
  readonly disk = Buffer.alloc(8 * MIB);
  readonly web: InstanceRef;

  private constructor(uid: string) {
    const vm = buildVm({ ref: { name: 'web' }, uid, diskBytes: 8 * MIB, tags: ['prod'] });
    this.web = vm.ref;
    this.disk.write('the beginning', 0);
    this.disk.fill('some data ', 3 * MIB + 100, 3 * MIB + 200_000);
    this.lab.engine.put(vm);
    this.lab.engine.disks.set(`${formatRef(this.web)} vda`, this.disk);
  }

  static async open(uid = 'uid-web'): Promise<BackingUp> {
    const backing = new BackingUp(uid);
    await backing.addTarget('nightly', 'feed000000000001');
    return backing;
  }

  async addTarget(name: string, id: string): Promise<void> {
    const common = { owner: '', kind: 'directory', creator: 'ann', createdAt: this.clock.iso() } as const;
    await this.targets.put({ ...common, id, name, path: `/backups/${name}`, password: 'correct horse' });
  }

  /** Runs the only step of a definition. @returns its result */
  async run<Input extends object>(definition: TaskDefinition<Input>, input: Input, task = 'task-1'): Promise<unknown> {
    const [step] = definition.steps(input);
    if (!step) throw new Error('The task has no step.');
    const context = recordingStepContext(input, { task });
    return step.run(context);
  }
}

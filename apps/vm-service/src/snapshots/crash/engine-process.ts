import { writeSync } from 'node:fs';
import {
  ADMINISTRATOR,
  Audit,
  BackendDirectory,
  DomainError,
  parseRef,
  SystemClock,
  type Backend,
  type Task,
} from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import {
  CloneTasks,
  CloneVm,
  CreateSnapshot,
  DeleteSnapshot,
  MigrateVm,
  PlaceInstance,
  RestoreSnapshot,
  SnapshotTasks,
} from '@headgate/instances';
import { RegistryDatabase } from '@headgate/registry-store';
import { Ledger } from '@headgate/reservations';
import { TaskBoard } from '@headgate/tasks';
import { ClockWithoutTimers, KillingStore } from '../../testing/killing-store.js';
import { NoAuditLog } from '../../testing/no-audit-log.js';

// engine-crash.stress.spec.ts runs this in a process of its own, which asks a simulated cluster of the spec for one
// operation, and kills itself with SIGKILL before or after a write to the store. Without `killAt`, it prints the
// writes and the tasks when all of them have ended.
//   engine-process ORDER-AS-JSON
export interface EngineProcessParams {
  readonly database: string;
  readonly kubeconfig: string;
  readonly ref: string;
  readonly action: 'snapshot' | 'restore' | 'delete-snapshot' | 'clone' | 'migrate';
  /** Whether the operation is requested; otherwise the tasks of an earlier process continue. */
  readonly isFirst: boolean;
  /** Such as `after:3`: the moment of the third write. */
  readonly killAt?: string;
}

export interface EngineOutcome {
  /** Each write of the store: `begin STEP`, `end STEP`, or `other`. */
  readonly writes: readonly string[];
  readonly tasks: readonly Task[];
  /** The task that has reserved the VM after the start. */
  readonly reservedBy?: string;
  /** Why a second operation on the VM was refused after the start. */
  readonly refusal?: string;
}

const params = JSON.parse(process.argv[2] ?? '{}') as EngineProcessParams;
const caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const ref = parseRef(params.ref);

class OneContext extends BackendDirectory {
  constructor(private readonly backend: Backend) {
    super();
  }

  override all(): readonly Backend[] {
    return [this.backend];
  }

  override get(context: string): Backend {
    if (context === this.backend.context) return this.backend;
    throw new DomainError('CONTEXT_NOT_FOUND', `There is no context ${context}.`);
  }
}

const clock = new SystemClock();
const registry = new RegistryDatabase(params.database).open();
const store = new KillingStore(registry, params.killAt);
const reservations = new Ledger({ clock });
const tasks = new TaskBoard(store, new ClockWithoutTimers(), undefined, undefined, reservations);
// Loaded when it is needed, as in the service.
const { KubeBackend } = await import('@headgate/kube-adapter');
const backends = new OneContext(
  KubeBackend.open({ context: ref.context, kubeconfig: { text: params.kubeconfig }, clock }),
);
const directory = new Fleet({ clock, present: () => ({}), folderOf: () => undefined });
const audit = new Audit(new NoAuditLog(), clock);
const deps = { directory, backends, audit, clock, reservations };
const snapshotDeps = { ...deps, tasks: new SnapshotTasks({ tasks, directory, backends }) };
const cloneDeps = { ...deps, tasks: new CloneTasks({ tasks, directory, backends }) };
const use = {
  snapshot: () => new CreateSnapshot(snapshotDeps).run(ref, { name: `${ref.name}-two` }, caller),
  restore: () => new RestoreSnapshot(snapshotDeps).run(ref, `${ref.name}-one`, undefined, caller),
  'delete-snapshot': () => new DeleteSnapshot(snapshotDeps).run(ref, `${ref.name}-one`, undefined, caller),
  clone: () =>
    new CloneVm({ ...cloneDeps, place: new PlaceInstance(backends, directory) }).run(ref, `${ref.name}-copy`, caller),
  migrate: () => migrate.run(ref, undefined, caller),
};
const migrate = new MigrateVm({ ...deps, tasks });

for (const backend of backends.all()) directory.attach(backend);
await directory.whenSynced();
let seen: Pick<EngineOutcome, 'reservedBy' | 'refusal'> = {};
if (params.isFirst) await use[params.action]();
else {
  await tasks.recover();
  const reservedBy = reservations.taskOf(params.ref)?.task;
  const refusal = reservedBy && (await use.snapshot().then(String, (error: Error) => error.message));
  seen = { ...(reservedBy !== undefined && { reservedBy }), ...(refusal !== undefined && { refusal }) };
  tasks.resume();
}
while (store.running().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
const outcome: EngineOutcome = {
  writes: store.writes,
  tasks: store.recent(20).flatMap(({ id }) => store.get(id) ?? []),
  ...seen,
};
// Written before the process exits, also into a pipe.
writeSync(1, JSON.stringify(outcome));
process.exit();

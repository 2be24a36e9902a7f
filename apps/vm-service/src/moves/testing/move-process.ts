import { writeSync } from 'node:fs';
import {
  ADMINISTRATOR,
  Audit,
  BackendDirectory,
  DomainError,
  SystemClock,
  type Backend,
  type Task,
} from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { Folders } from '@headgate/folders';
import { IncusBackend } from '@headgate/incus-adapter';
import { LibvirtBackend } from '@headgate/libvirt-adapter';
import type { MetricsSampler } from '@headgate/metrics';
import {
  MoveMembers,
  MoveTask,
  PlanMove,
  PlanQueue,
  ShutdownEstimates,
  StartMove,
  StartQueue,
  Throughput,
} from '@headgate/moves';
import { RegistryDatabase, SqliteFolderStore, SqliteShutdownTimes } from '@headgate/registry-store';
import { Ledger } from '@headgate/reservations';
import { TaskBoard } from '@headgate/tasks';
import { ClockWithoutTimers, KillingStore } from '../../testing/killing-store.js';
import { NoAuditLog } from '../../testing/no-audit-log.js';
import { ServiceRecords } from '../service-records.js';

// move-crash.stress.spec.ts runs this in a process of its own, which moves VMs between two simulated clusters of the
// spec, and kills itself with SIGKILL before or after a write to the store. move-crash.spec.ts of vm-service-e2e does
// the same with two libvirts, and container-move-crash.spec.ts with two servers of Incus and LXD. Without `killAt`, it
// prints the writes and the tasks when all of them have ended.
//   move-process ORDER-AS-JSON
export interface ProcessParams {
  readonly database: string;
  /** The kubeconfigs of the contexts `alpha` and `beta`. */
  readonly clusters?: Readonly<Record<'alpha' | 'beta', string>>;
  /** In place of the clusters: the URIs of two libvirts, with a folder for downloads. */
  readonly libvirts?: Readonly<Record<'alpha' | 'beta', { readonly uri: string; readonly dataDir: string }>>;
  /** In place of the clusters: the sockets of two servers of Incus or LXD, with a folder for the key of the service. */
  readonly servers?: Readonly<Record<'alpha' | 'beta', { readonly socket: string; readonly dataDir: string }>>;
  /** Whether the source is kept. */
  readonly keepsSource?: boolean;
  /**
   * Instances to move from `alpha` to `beta`; several are moved as a queue. Absent: continues the tasks of an earlier
   * process.
   */
  readonly refs?: readonly string[];
  readonly folder?: string;
  /** Such as `after:3`: the moment of the third write. */
  readonly killAt?: string;
}

export interface ProcessOutcome {
  /** Each write of the store: `begin copy`, `end copy`, or `other`. */
  readonly writes: readonly string[];
  readonly tasks: readonly Task[];
  /** The folder of each ref. */
  readonly folders: Readonly<Record<string, string>>;
}

const params = JSON.parse(process.argv[2] ?? '{}') as ProcessParams;
const caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };

class TwoContexts extends BackendDirectory {
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

const clock = new SystemClock();

async function openBackends(): Promise<Backend[]> {
  if (params.libvirts) {
    return Object.entries(params.libvirts).map(([context, options]) =>
      LibvirtBackend.open({ context, clock, accelerator: async () => 'tcg', ...options }),
    );
  }
  if (params.servers) {
    return Object.entries(params.servers).map(([context, { socket, dataDir }]) =>
      IncusBackend.open({ context, clock, dataDir, target: { kind: 'socket', path: socket } }),
    );
  }
  const { KubeBackend } = await import('@headgate/kube-adapter');
  return Object.entries(params.clusters ?? {}).map(([context, text]) =>
    KubeBackend.open({ context, kubeconfig: { text }, clock }),
  );
}

const registry = new RegistryDatabase(params.database).open();
const store = new KillingStore(registry, params.killAt);
const reservations = new Ledger({ clock });
const board = new TaskBoard(store, new ClockWithoutTimers(), undefined, undefined, reservations);
const backends = new TwoContexts(await openBackends());
const folders = new Folders(new SqliteFolderStore(registry));
const fleet = new Fleet({ clock, present: () => ({}), folderOf: (instance) => folders.folderOf(instance) });
const audit = new Audit(new NoAuditLog(), clock);
const throughput = new Throughput();
const shutdowns = new ShutdownEstimates(new SqliteShutdownTimes(registry));
const sampler = { carryOver: () => undefined } as unknown as MetricsSampler;
const records = new ServiceRecords(folders, sampler, fleet);
const planMove = new PlanMove({ directory: fleet, backends, reservations, throughput, shutdowns });
const task = board.define(new MoveTask({ directory: fleet, backends, records, audit, throughput, shutdowns, clock }));
const startMove = new StartMove({ planMove, task, backends, reservations, audit });
board.defineBulk(async () => undefined);
const startQueue = new StartQueue(new PlanQueue(planMove, throughput), board, new MoveMembers(startMove, backends));

const move = {
  toBackend: params.libvirts ? 'libvirt' : params.servers ? 'incus' : 'kubevirt',
  toContext: 'beta',
  deleteSource: params.keepsSource !== true,
};

async function begin(refs: readonly string[]): Promise<void> {
  await folders.change((tree) => tree.create(params.folder ?? 'prod'));
  for (const ref of refs) {
    const { uid } = fleet.resolve(parse(ref));
    await folders.change((tree) => tree.assign({ ref, uid }, params.folder ?? 'prod'));
  }
  const [ref = ''] = refs;
  await (refs.length === 1
    ? startMove.run({ ...move, ref }, undefined, caller)
    : startQueue.run(
        { move, perHost: 1, skipRefused: false, leavesOutMoved: false },
        refs.map((text) => fleet.resolve(parse(text)).ref),
        caller,
      ));
}

const parse = (text: string) => {
  const [kind, context = '', namespace = '', name = ''] = text.split('/');
  return { kind: kind === 'ct' ? 'ct' : 'vm', context, namespace, name } as const;
};

const ended = async (): Promise<void> => {
  while (store.running().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
};

await folders.load();
for (const backend of backends.all()) fleet.attach(backend);
// Like the service, which resumes tasks when the backends were listed.
await fleet.whenSynced();
if (params.refs) {
  await begin(params.refs);
} else {
  await board.recover();
  board.resume();
}
await ended();
const outcome: ProcessOutcome = {
  writes: store.writes,
  tasks: store.recent(20).flatMap(({ id }) => store.get(id) ?? []),
  folders: Object.fromEntries(
    [...folders.tree.refs()].map((ref) => [
      ref,
      folders.tree
        .membersWith(ref)
        .map(({ uid, folder }) => (fleet.get(parse(ref))?.uid === uid ? folder.path : `missing in ${folder.path}`))
        .join(),
    ]),
  ),
};
// Written before the process exits, also into a pipe.
writeSync(1, JSON.stringify(outcome));
process.exit();

import { existsSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  ADMINISTRATOR,
  buildPlan,
  SILENT_LOG,
  SystemClock,
  UnavailableAbility,
  type Backend,
  type InstanceDirectory,
  type Task,
  type TaskJournal,
  type VmSpec,
  workOn,
} from '@headgate/domain-contracts';
import { BuildVm } from '@headgate/instances';
import { BundledSource, PluginDiskBuilder, PluginFolder, PluginHost, Podman } from '@headgate/plugins';
import { RegistryDatabase, SqliteTaskStore } from '@headgate/registry-store';
import { Ledger } from '@headgate/reservations';
import { TaskBoard } from '@headgate/tasks';

/** Where the disk is built, and where the VM is created. */
export interface BuildTarget {
  /** The program; empty where no disk is built on this machine. */
  readonly podman: string;
  /** Of a cluster; without it, a VM is a file in the data folder. */
  readonly kubeconfig?: string;
  /** Whether the cluster builds the disk. */
  readonly buildsInCluster?: boolean;
}

// crash.stress.spec.ts runs this in a process of its own, which kills itself with SIGKILL before or after a write to
// the store, or when the log contains a text. Without `killAt`, it prints the number of writes and the ended tasks.
//   build-process FOLDER TARGET install|start|restart [before:N|after:N|log:TEXT]
const [folder = '', targetJson = '{"podman":""}', phase = '', killAt = ''] = process.argv.slice(2);
const target = JSON.parse(targetJson) as BuildTarget;

const caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const place = target.kubeconfig === undefined ? ['local', 'local'] : ['prod', 'tailvm'];
const ref = { kind: 'vm', context: place[0] ?? '', namespace: place[1] ?? '', name: 'web' } as const;
const clock = new SystemClock();
const die = (): void => void process.kill(process.pid, 'SIGKILL');
const killText = killAt.startsWith('log:') ? killAt.slice('log:'.length) : undefined;

class KillingStore extends SqliteTaskStore {
  writes = 0;

  override async put(task: Task, journal?: TaskJournal): Promise<void> {
    this.writes++;
    if (killAt === `before:${this.writes}`) die();
    await super.put(task, journal);
    if (killAt === `after:${this.writes}`) die();
    if (killText !== undefined && task.log.includes(killText)) die();
  }
}

/** A backend whose VMs survive the process: one file for each, with its creations. */
const vmFile = join(folder, 'vm-web');
const createVm = async ({ source, creation }: VmSpec): Promise<object> => {
  if (source.kind !== 'bootc' || source.disk === undefined) throw new Error('the VM has no disk');
  const signature = Buffer.alloc(2);
  readSync(openSync(source.disk, 'r'), signature, 0, 2, 510);
  if (signature.readUInt16BE() !== 0x55aa) throw new Error('the disk is incomplete');
  writeFileSync(vmFile, `${creation}\n`, { flag: 'a' });
  return {};
};
const hasCreated = (creation: string): boolean =>
  existsSync(vmFile) && readFileSync(vmFile, 'utf8').split('\n').includes(creation);
const fileBackend = {
  ability: () => new UnavailableAbility('Disks are built here.'),
  require: () => ({
    planCreate: async () => buildPlan([]),
    create: createVm,
    creationState: async (_ref: object, creation: string) => (hasCreated(creation) ? 'complete' : 'absent'),
    discardCreation: async () => undefined,
  }),
  close: async () => undefined,
} as unknown as Backend;

const openBackend = async (): Promise<Backend> => {
  if (target.kubeconfig === undefined) return fileBackend;
  // The Kubernetes client is slow to load.
  const { KubeBackend } = await import('@headgate/kube-adapter');
  const { context } = ref;
  const diskBuilds = target.buildsInCluster ? { images: ['*'] } : undefined;
  return KubeBackend.open({ context, kubeconfig: { file: target.kubeconfig }, clock, diskBuilds });
};
const backend = await openBackend();
const directory = { waitFor: async () => undefined } as unknown as InstanceDirectory;

const registry = new RegistryDatabase(join(folder, 'registry.db')).open();
const store = new KillingStore(registry);
/** Only the steps write, so that each run has the same writes. */
class ClockWithoutTimers extends SystemClock {
  override after(): () => void {
    return () => undefined;
  }
}
const reservations = new Ledger({ clock });
const taskClock = killText === undefined ? new ClockWithoutTimers() : clock;
const tasks = new TaskBoard(store, taskClock, undefined, undefined, reservations);
const plugins = new PluginFolder({ folder: join(folder, 'plugins'), clock, log: SILENT_LOG });
const host = new PluginHost({ workFolder: join(folder, 'work'), clock, log: SILENT_LOG });
const disks = new PluginDiskBuilder({
  plugins,
  host,
  clock,
  podman: new Podman(target.podman),
  folder: join(folder, 'builds'),
  isRoot: true,
  checkRegistry: async () => undefined,
  freeBytes: async () => 1024 ** 4,
});
const folders = { hasFolder: () => false, join: async () => undefined, complete: async () => undefined };
const build = new BuildVm({ disks, directory, tasks, folders, backends: { all: () => [backend], get: () => backend } });

await plugins.open();
if (phase === 'install') {
  const [offer] = await new BundledSource().offers();
  if (!offer) throw new Error('there is no bundled plugin');
  await plugins.install(offer, await offer.fetch(new AbortController().signal), async () => undefined);
} else if (phase === 'start') {
  const source = { kind: 'bootc', image: 'registry.example.org/a:1', sshKey: `ssh-ed25519 ${'A'.repeat(68)}` } as const;
  const spec = { ref, cpu: 1, memoryBytes: 1024 ** 3, diskBytes: 8 * 1024 ** 3, start: false, source };
  await reservations.during(workOn('build', ref), (reservation) => build.start(backend, spec, caller, reservation));
} else {
  if (target.podman !== '') await disks.sweep(store.running().map(({ id }) => id));
  await tasks.recover();
  tasks.resume();
}
while (store.running().length > 0) await new Promise((resolve) => setImmediate(resolve));
await host.close();
await backend.close();
const ended = store.recent(10).map(({ id }) => store.get(id));
registry.close();
const created = existsSync(vmFile) ? readFileSync(vmFile, 'utf8').split('\n').filter(Boolean).length : 0;
// Written before the process exits, also into a pipe.
writeSync(1, JSON.stringify({ writes: store.writes, tasks: ended, created }));
process.exit();

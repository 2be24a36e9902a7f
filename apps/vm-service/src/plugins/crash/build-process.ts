import { existsSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildPlan,
  SILENT_LOG,
  SystemClock,
  type Backend,
  type Instance,
  type InstanceDirectory,
  type Task,
  type TaskJournal,
  type VmSpec,
} from '@headgate/domain-contracts';
import { BuildVm } from '@headgate/instances';
import { BundledSource, PluginDiskBuilder, PluginFolder, PluginHost, Podman } from '@headgate/plugins';
import { RegistryDatabase, SqliteTaskStore } from '@headgate/registry-store';
import { TaskBoard } from '@headgate/tasks';

// crash.spec.ts runs this in a process of its own, which kills itself with SIGKILL before or after a write to the store, or while the
// container runs. Without `killAt`, it prints the number of writes and the ended tasks.
//   build-process FOLDER PODMAN install|start|restart [before:N|after:N|container]
const [folder = '', podman = '', phase = '', killAt = ''] = process.argv.slice(2);

const caller = { login: 'ann', name: 'Ann', admin: true };
const ref = { kind: 'vm', context: 'local', namespace: 'local', name: 'web' } as const;
const clock = new SystemClock();
const die = (): void => void process.kill(process.pid, 'SIGKILL');

class KillingStore extends SqliteTaskStore {
  writes = 0;

  override put(task: Task, journal?: TaskJournal): void {
    this.writes++;
    if (killAt === `before:${this.writes}`) die();
    super.put(task, journal);
    if (killAt === `after:${this.writes}`) die();
    if (killAt === 'container' && task.log.includes('Installing image')) die();
  }
}

/** A backend whose VMs survive the process: one file for each, with its creations. */
const vmFile = join(folder, 'vm-web');
const createVm = async ({ source }: VmSpec): Promise<object> => {
  if (source.kind !== 'bootc' || source.disk === undefined) throw new Error('the VM has no disk');
  const signature = Buffer.alloc(2);
  readSync(openSync(source.disk, 'r'), signature, 0, 2, 510);
  if (signature.readUInt16BE() !== 0x55aa) throw new Error('the disk is incomplete');
  writeFileSync(vmFile, 'created\n', { flag: 'a' });
  return {};
};
const backend = {
  require: () => ({ planCreate: async () => buildPlan([]), create: createVm }),
} as unknown as Backend;
const directory = {
  get: () => (existsSync(vmFile) ? ({ ref, status: 'Stopped' } as Instance) : undefined),
  waitFor: async () => undefined,
} as unknown as InstanceDirectory;

const registry = new RegistryDatabase(join(folder, 'registry.db')).open();
const store = new KillingStore(registry);
/** Only the steps write, so that each run has the same writes. */
class ClockWithoutTimers extends SystemClock {
  override after(): () => void {
    return () => undefined;
  }
}
const tasks = new TaskBoard(store, killAt === 'container' ? clock : new ClockWithoutTimers());
const plugins = new PluginFolder({ folder: join(folder, 'plugins'), clock, log: SILENT_LOG });
const host = new PluginHost({ workFolder: join(folder, 'work'), clock, log: SILENT_LOG });
const disks = new PluginDiskBuilder({
  ...{ plugins, host, clock },
  podman: new Podman(podman),
  folder: join(folder, 'builds'),
  isRoot: true,
  checkRegistry: async () => undefined,
  freeBytes: async () => 1024 ** 4,
});
const build = new BuildVm({ disks, directory, tasks, backends: { all: () => [backend], get: () => backend } });

await plugins.open();
if (phase === 'install') {
  const [offer] = await new BundledSource().offers();
  if (!offer) throw new Error('there is no bundled plugin');
  await plugins.install(offer, await offer.fetch(new AbortController().signal), async () => undefined);
} else if (phase === 'start') {
  const source = { kind: 'bootc', image: 'registry.example.org/a:1', sshKey: `ssh-ed25519 ${'A'.repeat(68)}` } as const;
  const spec = { ref, cpu: 1, memoryBytes: 1024 ** 3, diskBytes: 8 * 1024 ** 3, start: false, source };
  await build.start(backend, spec, caller);
} else {
  await disks.sweep(store.running().map(({ id }) => id));
  tasks.recover();
  tasks.resume();
}
while (store.running().length > 0) await new Promise((resolve) => setImmediate(resolve));
await host.close();
const ended = store.recent(10).map(({ id }) => store.get(id));
registry.close();
const created = existsSync(vmFile) ? readFileSync(vmFile, 'utf8').split('\n').filter(Boolean).length : 0;
// Written before the process exits, also into a pipe.
writeSync(1, JSON.stringify({ writes: store.writes, tasks: ended, created }));
process.exit();

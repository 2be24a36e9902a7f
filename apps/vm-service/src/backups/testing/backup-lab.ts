import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackupTask, pointsOf, type BackedUp, type BackupStore } from '@headgate/backups';
import {
  BackendDirectory,
  DomainError,
  formatRef,
  InstanceDirectory,
  SystemClock,
  type Backend,
  type BackupTarget,
  type Instance,
  type InstanceQuery,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { LibvirtBackend } from '@headgate/libvirt-adapter';
import { InventoryRecorder, PrivateLibvirtd, recordingStepContext } from '@headgate/testing';
import { AllowedFolders } from '../allowed-folders.js';
import { ResticStores } from '../restic-stores.js';
import { MemoryTargets } from './memory-targets.js';

const CONTEXT = 'local';

class OneBackend extends BackendDirectory {
  constructor(private readonly backend: Backend) {
    super();
  }

  override all() {
    return [this.backend];
  }

  override get() {
    return this.backend;
  }
}

class Watched extends InstanceDirectory {
  constructor(private readonly recorder: InventoryRecorder) {
    super();
  }

  override resolve({ name, uid }: InstanceQuery): Instance {
    const found = this.recorder.vm(labRef(name));
    if (found && (uid === undefined || found.uid === uid)) return found;
    throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${name}.`);
  }

  override get(wanted: InstanceRef): Instance | undefined {
    return this.recorder.instance(wanted);
  }

  override async waitFor(): Promise<void> {
    // The recorder follows libvirt.
  }
}

export const labRef = (name: string): InstanceRef => ({ kind: 'vm', context: CONTEXT, namespace: 'local', name });

/** A libvirt of its own, and a repository to which its guests are backed up. */
export class BackupLab {
  readonly clock = new SystemClock();
  readonly backend: LibvirtBackend;
  readonly recorder: InventoryRecorder;
  private readonly stores: ResticStores;
  private readonly target: BackupTarget;
  private tasks = 0;

  private constructor(
    /** For files of the test. Removed at the end. */
    readonly folder: string,
    readonly machine: PrivateLibvirtd,
    image: string | undefined,
  ) {
    this.backend = LibvirtBackend.open({
      context: CONTEXT,
      uri: machine.uri,
      dataDir: join(folder, 'data'),
      poolPath: machine.images,
      clock: this.clock,
      accelerator: () => Promise.resolve('tcg'),
      ...(image !== undefined && { tinyGuest: () => Promise.resolve(image) }),
    });
    this.recorder = InventoryRecorder.over(this.backend.require('inventory'));
    const backups = join(folder, 'backups');
    this.stores = new ResticStores(new AllowedFolders([backups]), this.clock);
    this.target = {
      owner: '',
      id: 'feed000000000001',
      name: 'lab',
      kind: 'directory',
      path: join(backups, 'lab'),
      password: 'correct horse battery',
      creator: 'test',
      createdAt: this.clock.iso(),
    };
  }

  /** @param image of new VMs */
  static async open(image?: string): Promise<BackupLab> {
    const folder = await mkdtemp(join(tmpdir(), 'hgtest-backups-'));
    await mkdir(join(folder, 'backups'));
    const machine = await PrivateLibvirtd.create('lab');
    await machine.start();
    const lab = new BackupLab(folder, machine, image);
    await lab.stores.prepare(lab.target);
    await lab.recorder.whenListed();
    return lab;
  }

  async backUp(name: string): Promise<BackedUp & { readonly lines: readonly string[] }> {
    const ref = labRef(name);
    const input = { ref: formatRef(ref), uid: this.recorder.vm(ref)?.uid ?? '', target: this.target.id };
    const task = new BackupTask({
      targets: new MemoryTargets(this.target),
      stores: this.stores,
      clock: this.clock,
      folders: { folderOf: () => undefined },
      directory: new Watched(this.recorder),
      backends: new OneBackend(this.backend),
    });
    const context = recordingStepContext(input, { task: `task-${++this.tasks}` });
    const [step] = task.steps();
    const result = (await step?.run(context)) as BackedUp;
    return { ...result, lines: context.lines };
  }

  store(): Promise<BackupStore> {
    return this.stores.open(this.target);
  }

  /** The IDs of all points, the oldest first. */
  async points(): Promise<string[]> {
    return pointsOf(await (await this.store()).snapshots())
      .map(({ id }) => id)
      .reverse();
  }

  /** libvirt's names of the checkpoints of a guest. */
  async checkpoints(name: string): Promise<string[]> {
    const names = await this.machine.virsh('checkpoint-list', name, '--name');
    return names.split('\n').filter((one) => one !== '');
  }

  async close(): Promise<void> {
    await this.recorder.stop();
    await this.backend.close();
    await this.machine.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

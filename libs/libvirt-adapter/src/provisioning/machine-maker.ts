import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import {
  DomainError,
  messageOf,
  type Clock,
  type Log,
  type TaskReporter,
  type VmSpec,
} from '@headgate/domain-contracts';
import { buildDomainXml } from '../domain-xml/build-domain-xml.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { KeyedLock } from '../virsh/keyed-lock.js';
import type { Virsh } from '../virsh/virsh.js';
import type { BootDiskMaker } from './boot-disk-maker.js';
import type { CreationPlan } from './creation-plan.js';
import type { DomainEditor } from './domain-editor.js';
import type { DomainRemover } from './domain-remover.js';
import { nameVolumes, type MachineFiles } from './machine-files.js';
import type { writeSeedIso } from './seed-iso.js';
import type { WorkInProgress } from './work-in-progress.js';

export interface MakingParts {
  readonly virsh: Virsh;
  readonly pool: StoragePool;
  readonly editor: DomainEditor;
  readonly remover: DomainRemover;
  readonly disks: BootDiskMaker;
  readonly progress: WorkInProgress;
  readonly lock: KeyedLock;
  readonly writeSeed: typeof writeSeedIso;
  readonly clock: Clock;
  readonly log: Log;
}

/** A machine that is defined and waits for its disk. */
export interface Draft {
  readonly spec: VmSpec;
  readonly uuid: string;
  readonly plan: CreationPlan;
  readonly files: MachineFiles;
}

/** Makes a machine as it was planned: defined first, so that its name is taken, then filled. */
export class MachineMaker {
  constructor(private readonly parts: MakingParts) {}

  /** Marked as work in progress, which the service removes when it finds it interrupted. */
  async define(spec: VmSpec, plan: CreationPlan): Promise<Draft> {
    const { pool, progress, virsh, clock } = this.parts;
    const uuid = randomUUID();
    const files = nameVolumes({ spec, uuid, pool: pool.name, folder: await pool.path(), plan });
    progress.begin(uuid);
    try {
      const xml = buildDomainXml({
        name: spec.ref.name,
        uuid,
        cpu: spec.cpu,
        memoryBytes: spec.memoryBytes,
        arch: plan.host.arch,
        accelerator: plan.host.accelerator,
        disk: files.disk,
        installer: files.installer,
        seed: files.seed,
        network: plan.host.network,
        serial: files.serial,
        vnc: plan.host.isRemote ? 'loopback' : 'socket',
        metadata: {
          owner: uuid,
          createdAt: clock.iso(),
          tags: [],
          isTemplate: false,
          isProtected: false,
          provisioning: progress.mark(),
          volumes: files.volumes,
        },
      });
      await virsh.withXml(xml, (file) => ['define', file]);
      return { spec, uuid, plan, files };
    } catch (error) {
      progress.end(uuid);
      throw error;
    }
  }

  /** Makes the disks, takes the mark away and starts the machine; or leaves nothing. */
  fill(draft: Draft, report: TaskReporter): Promise<void> {
    const { progress, remover, lock, log } = this.parts;
    const { uuid, spec } = draft;
    const cancelled = progress.signal(uuid);
    const signal = cancelled ? AbortSignal.any([report.signal, cancelled]) : AbortSignal.abort();
    const work = async (): Promise<void> => {
      try {
        await this.makeDisks(draft, { ...forward(report), signal });
        signal.throwIfAborted();
        await this.complete(draft, report);
      } catch (error) {
        await lock
          .run(uuid, () => remover.remove(uuid))
          .catch((failure: unknown) => {
            if (!DomainError.is(failure, 'INSTANCE_NOT_FOUND'))
              log.warn({ domain: spec.ref.name, reason: messageOf(failure) }, 'a half-made VM could not be removed');
          });
        throw signal.aborted && !(error instanceof DomainError)
          ? new DomainError('CONFLICT', `Making ${spec.ref.name} was cancelled.`)
          : error;
      } finally {
        progress.end(uuid);
      }
    };
    return progress.track(uuid, work());
  }

  private async makeDisks({ spec, uuid, plan, files }: Draft, report: TaskReporter): Promise<void> {
    const { progress, disks, pool, writeSeed } = this.parts;
    const folder = await progress.makeFolder();
    try {
      await disks.make(
        { spec, arch: plan.host.arch, folder, disk: files.names.disk, cdrom: files.names.cdrom },
        report,
      );
      if (!plan.hasSeed) return;
      report.step('Writing the cloud-init disc');
      const seed = await writeSeed({ uuid, hostname: spec.ref.name, userData: spec.cloudInit }, folder);
      await pool.createFrom(files.names.seed, seed, report);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  private async complete({ uuid, spec }: Draft, report: TaskReporter): Promise<void> {
    const { editor, lock, virsh } = this.parts;
    await lock.run(uuid, async () => {
      await editor.note(uuid, ({ provisioning: _done, ...metadata }) => metadata);
      if (!spec.start) return;
      report.step('Starting the VM');
      await virsh.run(['start', uuid], { timeoutMs: 90_000 });
    });
  }
}

/** A report may be an object of a class: spreading it would lose its methods. */
const forward = (report: TaskReporter): Omit<TaskReporter, 'signal'> => ({
  step: (name) => report.step(name),
  log: (line) => report.log(line),
  progress: (fraction) => report.progress(fraction),
});

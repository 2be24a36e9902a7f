import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import {
  DomainError,
  InstanceProvisioning,
  messageOf,
  planOf,
  type Clock,
  type Creation,
  type InstanceRef,
  type Log,
  type Plan,
  type TaskReport,
  type VmSourceKind,
  type VmSpec,
} from '@headgate/domain-contracts';
import { buildDomainXml } from '../domain-xml/build-domain-xml.js';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { KeyedLock } from '../virsh/keyed-lock.js';
import type { Virsh } from '../virsh/virsh.js';
import type { BootDiskMaker } from './boot-disk-maker.js';
import {
  BOOTC_REFUSAL,
  planCreation,
  throwFirstRefusal,
  type CreationPlan,
  type PlanningParts,
} from './creation-plan.js';
import type { DomainEditor } from './domain-editor.js';
import type { DomainRemover } from './domain-remover.js';
import { nameVolumes, type MachineFiles } from './machine-files.js';
import type { writeSeedIso } from './seed-iso.js';
import type { WorkInProgress } from './work-in-progress.js';

export interface ProvisioningParts extends PlanningParts {
  readonly virsh: Virsh;
  readonly finder: DomainFinder;
  readonly pool: StoragePool;
  readonly editor: DomainEditor;
  readonly remover: DomainRemover;
  readonly disks: BootDiskMaker;
  readonly progress: WorkInProgress;
  readonly lock: KeyedLock;
  readonly writeSeed: typeof writeSeedIso;
  /** Whether the image that is built on the spot is there already. */
  readonly isTinyGuestBuilt: () => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A machine that is defined and waits for its disk. */
interface Draft {
  readonly spec: VmSpec;
  readonly uuid: string;
  readonly plan: CreationPlan;
  readonly files: MachineFiles;
}

export class LibvirtProvisioning extends InstanceProvisioning {
  constructor(private readonly parts: ProvisioningParts) {
    super();
  }

  override sources(): Readonly<Record<VmSourceKind, true | string>> {
    return { containerDisk: true, image: true, import: true, iso: true, pvc: true, bootc: BOOTC_REFUSAL };
  }

  override async planCreate(spec: VmSpec): Promise<Plan> {
    const { steps, warnings, refusals } = await planCreation(spec, this.parts);
    return { steps, warnings, refusals };
  }

  /** Defines the machine first: the name is taken, or refused, before anything is fetched. */
  override async create(spec: VmSpec): Promise<Creation> {
    const plan = await planCreation(spec, this.parts);
    throwFirstRefusal(plan);
    await this.parts.pool.ensure();
    const draft = await this.exclusively(spec, () => this.define(spec, plan));
    if (await this.isLong(spec)) return { remaining: (report) => this.fill(draft, report) };
    await this.fill(draft, QUIET);
    return {};
  }

  override async planDelete(ref: InstanceRef): Promise<Plan> {
    const { uuid, name } = await this.parts.finder.find(ref);
    const { domain, volumes, kept } = await this.parts.remover.plan(uuid);
    return planOf(
      [
        ...(domain.isActive ? [{ name: 'stop', detail: `Pull the plug of ${name}.` }] : []),
        ...volumes.map((volume) => ({ name: 'volume', detail: `Remove the volume ${volume.pool}/${volume.name}.` })),
        {
          name: 'undefine',
          detail: `Remove ${name} from libvirt, with its saved state and the notes of its snapshots.`,
        },
      ],
      {
        warnings: kept.map((path) => `${path} stays: it was not made for this VM by this service.`),
        refusals: domain.description.metadata.isProtected ? [protectedRefusal(name)] : [],
      },
    );
  }

  override async delete(ref: InstanceRef): Promise<void> {
    const { uuid, name } = await this.parts.finder.find(ref);
    // What is being filled is stopped first; it removes itself, and the rest is done here.
    await this.parts.progress.cancel(uuid);
    await this.parts.lock.run(uuid, async () => {
      const still = (await this.parts.finder.all()).find((domain) => domain.uuid === uuid);
      if (!still) return;
      const { description } = await this.parts.editor.read(uuid);
      if (description.metadata.isProtected) throw new DomainError('WRONG_STATE', protectedRefusal(name).reason);
      await this.parts.remover.remove(uuid);
    });
  }

  override async setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void> {
    const { uuid } = await this.parts.finder.find(ref);
    await this.parts.lock.run(uuid, () =>
      this.parts.editor.note(uuid, (metadata) => {
        const others = metadata.tags.filter((other) => other !== tag);
        return { ...metadata, tags: on ? [...others, tag].sort() : others };
      }),
    );
  }

  /** Removes what an earlier run of this service left half-made. */
  async removeInterrupted({ uuid, name, metadata }: DomainDescription): Promise<void> {
    const { progress, lock, remover, log } = this.parts;
    if (!progress.isInterrupted(metadata, uuid)) return;
    log.warn({ domain: name }, 'a VM whose making was interrupted is removed');
    try {
      await lock.run(uuid, () => remover.remove(uuid));
    } catch (error) {
      log.warn({ domain: name, reason: messageOf(error) }, 'what was left of it could not be removed');
    }
  }

  private async define(spec: VmSpec, plan: CreationPlan): Promise<Draft> {
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
  private fill(draft: Draft, report: TaskReport): Promise<void> {
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

  private async makeDisks({ spec, uuid, plan, files }: Draft, report: TaskReport): Promise<void> {
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

  private async complete({ uuid, spec }: Draft, report: TaskReport): Promise<void> {
    const { editor, lock, virsh } = this.parts;
    await lock.run(uuid, async () => {
      await editor.note(uuid, ({ provisioning: _done, ...metadata }) => metadata);
      if (!spec.start) return;
      report.step('Starting the VM');
      await virsh.run(['start', uuid], { timeoutMs: 90_000 });
    });
  }

  /** Two machines that ask for one volume at the same time are told apart: the second sees the first. */
  private async exclusively<T>(spec: VmSpec, work: () => Promise<T>): Promise<T> {
    if (spec.source.kind !== 'pvc') return work();
    return this.parts.lock.run(`claim ${spec.source.claim}`, async () => {
      throwFirstRefusal(await planCreation(spec, this.parts));
      return work();
    });
  }

  private async isLong({ source }: VmSpec): Promise<boolean> {
    if (source.kind === 'pvc') return false;
    return !(
      source.kind === 'image' &&
      source.entry.builtOnTheSpot !== undefined &&
      (await this.parts.isTinyGuestBuilt())
    );
  }
}

const QUIET: TaskReport = {
  step: () => undefined,
  log: () => undefined,
  progress: () => undefined,
  signal: new AbortController().signal,
};

/** A report may be an object of a class: spreading it would lose its methods. */
const forward = (report: TaskReport): Omit<TaskReport, 'signal'> => ({
  step: (name) => report.step(name),
  log: (line) => report.log(line),
  progress: (fraction) => report.progress(fraction),
});

const protectedRefusal = (name: string) => ({
  code: 'WRONG_STATE',
  reason: `${name} is protected against deletion.`,
  remedy: 'Take the protection away in its description first.',
});

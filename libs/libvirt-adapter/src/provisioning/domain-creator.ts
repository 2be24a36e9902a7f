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
import type { DiskIo } from '../domain-xml/domain-spec.js';
import { recordedOs } from '../guest-profiles/guest-profile.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { KeyedLock } from '../locks/concurrency.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { BootDiskBuilder } from './boot-disk-builder.js';
import type { CreationPlan } from './creation-plan.js';
import type { DomainEditor } from '../domains/domain-editor.js';
import { startDomain } from '../domains/start-domain.js';
import type { DomainRemover } from '../removal/domain-remover.js';
import { TASK_STEPS } from './creation-steps.js';
import { nameVolumes, type DomainFiles } from './domain-files.js';
import type { writeSeedIso } from '../seeds/seed-iso.js';
import type { WorkInProgress } from '../work-in-progress/work-in-progress.js';

export interface DomainCreatorDeps {
  readonly connection: LibvirtConnection;
  readonly pool: StoragePool;
  readonly editor: DomainEditor;
  readonly remover: DomainRemover;
  readonly disks: BootDiskBuilder;
  readonly progress: WorkInProgress;
  readonly lock: KeyedLock;
  readonly diskIo: () => Promise<DiskIo>;
  readonly writeSeed: typeof writeSeedIso;
  readonly clock: Clock;
  readonly log: Log;
}

/** The reason why a VM has no disk after a restart. */
export const INTERRUPTED = 'Its creation was interrupted by a restart of the service.';

export const NO_NETWORK_CARD =
  "The VM has no network card, because this machine can't run a network for VMs: see the doctor.";

/** A domain that is defined and waits for its disk. */
export interface Draft {
  readonly spec: VmSpec;
  readonly uuid: string;
  readonly plan: CreationPlan;
  readonly files: DomainFiles;
}

/** Creates a domain as planned: it is defined first, which reserves its name, and then gets its disks. */
export class DomainCreator {
  constructor(private readonly deps: DomainCreatorDeps) {}

  /** Defines the domain, marked as work in progress. The service removes a marked domain after an interruption. */
  async define(spec: VmSpec, plan: CreationPlan): Promise<Draft> {
    const { pool, progress, connection, clock, diskIo } = this.deps;
    const uuid = spec.creation ?? randomUUID();
    const [folder, diskFolder] = [await pool.path(), await plan.diskPool.path()];
    const files = nameVolumes({ spec, uuid, pool: pool.name, folder, diskFolder, plan });
    progress.begin(uuid);
    try {
      const xml = buildDomainXml({
        name: spec.ref.name,
        uuid,
        cpu: spec.cpu,
        memoryBytes: spec.memoryBytes,
        ...plan.platform,
        features: plan.host.features,
        diskIo: await diskIo(),
        arch: plan.host.arch,
        accelerator: plan.host.accelerator,
        disk: files.disk,
        installer: files.installer,
        seed: files.seed,
        nvram: files.nvram,
        network: plan.host.network,
        serial: files.serial,
        vnc: plan.host.isRemote ? 'loopback' : 'socket',
        metadata: {
          owner: uuid,
          createdAt: clock.iso(),
          ...recordedOs(plan.platform.guest),
          tags: [...(spec.tags ?? [])].sort(),
          isTemplate: false,
          isProtected: false,
          provisioning: progress.mark(),
          volumes: files.volumes,
          snapshots: [],
        },
      });
      await connection.domains.define(xml);
      return { spec, uuid, plan, files };
    } catch (error) {
      progress.end(uuid);
      throw error;
    }
  }

  /**
   * Creates the disks, removes the mark and starts the VM. After a failure the VM stays with the reason but without
   * disks, or nothing stays. Nothing stays of a VM that is deleted meanwhile.
   */
  fill(draft: Draft, report: TaskReporter, onFailure: 'keep' | 'remove'): Promise<void> {
    const { progress } = this.deps;
    const { uuid, spec } = draft;
    const canceled = progress.signal(uuid);
    const signal = canceled ? AbortSignal.any([report.signal, canceled]) : AbortSignal.abort();
    const work = async (): Promise<void> => {
      try {
        if (draft.plan.host.network === undefined) report.log(NO_NETWORK_CARD);
        await this.createDisks(draft, { ...forward(report), signal });
        signal.throwIfAborted();
        await this.complete(draft, report);
      } catch (error) {
        const stays = onFailure === 'keep' && (!signal.aborted || progress.isClosing);
        const reason = progress.isClosing ? INTERRUPTED : messageOf(error);
        await (stays ? this.fail(uuid, reason) : this.remove(draft));
        throw signal.aborted && !(error instanceof DomainError)
          ? new DomainError('CONFLICT', `The creation of ${spec.ref.name} was canceled.`)
          : error;
      } finally {
        progress.end(uuid);
      }
    };
    return progress.track(uuid, work());
  }

  private async createDisks({ spec, uuid, plan, files }: Draft, report: TaskReporter): Promise<void> {
    const { progress, disks, pool, writeSeed } = this.deps;
    const folder = await progress.createFolder();
    try {
      await disks.build(
        {
          spec,
          arch: plan.host.arch,
          folder,
          disk: files.names.disk,
          diskPool: plan.diskPool,
          cdrom: files.names.cdrom,
        },
        report,
      );
      if (!plan.hasSeed) return;
      report.step(TASK_STEPS.seed);
      const seed = await writeSeed({ uuid, hostname: spec.ref.name, userData: spec.cloudInit }, folder);
      await pool.createFrom(files.names.seed, seed, report);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Keeps a VM whose creation has failed, with the reason and without its disks. */
  async fail(uuid: string, reason: string): Promise<void> {
    const { editor, lock, remover, log } = this.deps;
    await lock
      .run(uuid, async () => {
        // Disks that can't be removed now are listed in the metadata, and go with the VM.
        await remover
          .removeDisks(uuid)
          .catch((error: unknown) =>
            log.warn({ domain: uuid, reason: messageOf(error) }, 'the disks of a failed VM could not be removed'),
          );
        await editor.updateMetadata(uuid, ({ provisioning: _done, ...metadata }) => ({ ...metadata, failure: reason }));
      })
      .catch(
        ignoreMissing((problem) => log.warn({ domain: uuid, reason: problem }, 'a failed VM could not be marked')),
      );
  }

  private async remove({ uuid, spec: { ref } }: Draft): Promise<void> {
    const { lock, remover, log } = this.deps;
    await lock
      .run(uuid, () => remover.remove(uuid))
      .catch(
        ignoreMissing((problem) =>
          log.warn({ domain: ref.name, reason: problem }, 'an incomplete VM could not be removed'),
        ),
      );
  }

  private async complete({ uuid, spec }: Draft, report: TaskReporter): Promise<void> {
    const { editor, lock, connection } = this.deps;
    await lock.run(uuid, async () => {
      await editor.updateMetadata(uuid, ({ provisioning: _done, ...metadata }) => metadata);
      if (spec.autostart) await connection.domains.setAutostart(uuid, true);
      if (!spec.start) return;
      report.step(TASK_STEPS.start);
      await startDomain(connection.domains, uuid);
    });
  }
}

const ignoreMissing =
  (report: (problem: string) => void) =>
  (error: unknown): void => {
    if (!DomainError.is(error, 'INSTANCE_NOT_FOUND')) report(messageOf(error));
  };

/** Spreading a report would lose the methods of a class instance. */
const forward = (report: TaskReporter): Omit<TaskReporter, 'signal'> => ({
  step: (name) => report.step(name),
  log: (line) => report.log(line),
  progress: (fraction) => report.progress(fraction),
  isDelayed: () => report.isDelayed?.(),
});

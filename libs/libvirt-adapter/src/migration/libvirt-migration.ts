import {
  DomainError,
  formatBytes,
  InstanceMigration,
  messageOf,
  throwFirstRefusal,
  type BackgroundWork,
  type InstanceRef,
  type OperationKey,
  type OperationState,
  type Plan,
  type TaskReporter,
} from '@headgate/domain-contracts';
import { followJob } from '../connection/follow-job.js';
import type { MigrationSession } from '../connection/migration-operations.js';
import { describeDomain, type DomainDescription } from '../domain-xml/domain-description.js';
import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';
import { instanceNameOf } from '../domains/instance-name.js';
import { Slots } from '../locks/concurrency.js';
import type { DiskHolds } from '../locks/disk-holds.js';
import { withoutLeftoverNodes } from './leftover-nodes.js';
import { createCopies, metadataThere, removeCopies } from './migrated-files.js';
import { closeChannel, openChannel, type MigrationChannel } from './migration-channel.js';
import type { MigrationHost } from './migration-host.js';
import { MigrationSettlement, type SettlementDeps } from './migration-settlement.js';
import { MigrationPreparation, type PreparedMigration } from './prepare-migration.js';
import { relocateDomainXml } from './relocate-domain-xml.js';
import { MigrationFlag, runMigration, UnknownOutcome, type MigrationRun } from './run-migration.js';

export interface LibvirtMigrationDeps extends SettlementDeps {
  readonly holds: DiskHolds;
  readonly createTemporaryFolder: () => Promise<string>;
  /** The identity of this service. */
  readonly service: () => string;
}

interface ReadyMigration extends PreparedMigration {
  readonly host: MigrationHost;
  readonly channel: MigrationChannel;
  readonly key: OperationKey | undefined;
}

const MAX_CONCURRENT_RECOVERIES = 2;

/**
 * Live migrations between the libvirt contexts of one service, directed by the service itself: the hosts need no access
 * to each other's libvirt, only a connection between their QEMUs.
 */
export class LibvirtMigration extends InstanceMigration {
  private readonly preparation: MigrationPreparation;
  private readonly settlement: MigrationSettlement;
  private readonly recoveries = new Set<Promise<void>>();
  private readonly recoverySlots = new Slots(MAX_CONCURRENT_RECOVERIES);

  constructor(private readonly deps: LibvirtMigrationDeps) {
    super();
    this.preparation = new MigrationPreparation(deps);
    this.settlement = new MigrationSettlement(deps);
  }

  override async plan(ref: InstanceRef, targetNode?: string): Promise<Plan> {
    const id = await this.deps.self.finder.find(ref);
    return (await this.preparation.prepare(id, targetNode)).plan;
  }

  override async migrate(ref: InstanceRef, targetNode?: string, key?: OperationKey): Promise<BackgroundWork> {
    const { self, holds } = this.deps;
    const id = await self.finder.find(ref);
    throwFirstRefusal((await this.preparation.prepare(id, targetNode, { isRun: true })).plan);
    holds.expectFree(id);
    return (report) =>
      holds.run(id, async () => {
        const prepared = await this.preparation.prepare(id, targetNode, { isRun: true, isHolder: true });
        throwFirstRefusal(prepared.plan);
        const { host, channel } = prepared;
        if (host && channel) await this.move({ ...prepared, host, channel, key }, report);
      });
  }

  override async stateOf(ref: InstanceRef, key: OperationKey): Promise<OperationState> {
    const { self, others } = this.deps;
    const here = await metadataAt(self, ref);
    if (here) return { state: here.pending?.operation === key.id ? 'running' : 'absent' };
    let isThere = false;
    for (const host of others()) {
      const there = await metadataAt(host, ref);
      if (there?.lastOperation === key.id) return { state: 'done' };
      isThere ||= there !== undefined;
    }
    if (isThere) return { state: 'absent' };
    throw new DomainError(
      'INSTANCE_NOT_FOUND',
      `There is no VM ${ref.name} in ${self.context}, or in any other context of libvirt.`,
    );
  }

  /** The copy of the memory ends with the process that directs it, so that only the outcome is left to be found. */
  override async resume(ref: InstanceRef, key: OperationKey): Promise<BackgroundWork> {
    return async (report) => {
      report.waitsFor?.(`both hosts to agree on where ${ref.name} runs`);
      await this.discard(ref, key);
      if ((await this.stateOf(ref, key)).state === 'done') return;
      throw new DomainError(
        'BACKEND_FAILED',
        `The migration of ${ref.name} was interrupted: its guest runs on ${this.deps.self.context}, as before.`,
      );
    };
  }

  /** Removes what it has left on either host. A guest that has arrived stays there. */
  override async discard(ref: InstanceRef, key: OperationKey): Promise<void> {
    if ((await this.stateOf(ref, key)).state !== 'running') return;
    const { self, holds } = this.deps;
    const id = await self.finder.find(ref);
    while (holds.has(id.uuid)) await holds.whenFree(id.uuid);
    await holds.run(id, () => this.settlement.settleLater(id));
  }

  /** Completes or undoes a migration that the end of an earlier run of this service has interrupted. */
  recover({ uuid, name, metadata }: DomainDescription): void {
    const { holds, service } = this.deps;
    const { pending } = metadata;
    if (metadata.owner !== uuid || pending?.kind !== 'migration') return;
    if (pending.service !== service() || holds.has(uuid)) return;
    const work = this.recoverySlots.run(() =>
      holds.run({ uuid, name }, () => this.settlement.settleLater({ uuid, name })),
    );
    const settled = work.catch((error: unknown) =>
      this.deps.log.warn({ domain: name, reason: messageOf(error) }, 'an interrupted migration could not be settled'),
    );
    this.recoveries.add(settled);
    void settled.finally(() => this.recoveries.delete(settled));
  }

  /** Resolves when no recovery runs. */
  async close(): Promise<void> {
    this.settlement.close();
    await Promise.all(this.recoveries);
  }

  private async move(prepared: ReadyMigration, report: TaskReporter): Promise<void> {
    const { id, host, key } = prepared;
    const { self, lock, editor, service, clock, log } = this.deps;
    const pending = {
      kind: 'migration',
      service: service(),
      startedAt: clock.iso(),
      snapshot: '',
      wasRunning: true,
      target: host.context,
      ...(key && { operation: key.id }),
      disks: prepared.copies.map(({ target, name }) => ({ target, name, replaced: name })),
    } as const;
    await lock.run(id.uuid, () =>
      editor.updateMetadata(id.uuid, (metadata) => {
        if (metadata.pending)
          throw new DomainError('BUSY', `Another change of the disks of ${id.name} is in progress.`);
        return { ...metadata, pending };
      }),
    );
    const created: string[] = [];
    try {
      report.step(`Preparing ${host.context}`);
      if (!prepared.isShared)
        await createCopies({
          source: self,
          destination: host,
          copies: prepared.copies,
          created: (name) => created.push(name),
          createTemporaryFolder: this.deps.createTemporaryFolder,
          signal: report.signal,
        });
      await this.transfer(prepared, report);
    } catch (failure) {
      await this.fail(prepared, created, failure);
      throw report.signal.aborted ? report.signal.reason : failure;
    }
    report.step(`Removing ${id.name} from ${self.context}`);
    try {
      await this.settlement.settle(id);
    } catch (error) {
      report.log(`${id.name} is removed from ${self.context} later: ${messageOf(error)}`);
      this.settleInBackground(id);
    }
    await closeChannel(host, id.uuid).catch(() => undefined);
    await this.summarize(prepared, report);
    log.info({ domain: id.name, destination: host.context }, 'migrated a domain');
  }

  private async transfer(prepared: ReadyMigration, report: TaskReporter): Promise<void> {
    const { id, description, state, host, channel, isShared, copies, key } = prepared;
    const { self } = this.deps;
    const [from, to] = [await self.pool.path(), await host.pool.path()];
    const metadata: InstanceMetadata = {
      ...metadataThere(description.metadata, copies, isShared),
      ...(key && { lastOperation: key.id }),
    };
    const relocation = { from, to, metadata, copied: new Map(copies.map(({ target, name }) => [target, name])) };
    const persistentXml = await self.connection.domains.persistentXml(id.uuid);
    const settings = await openChannel(channel, host, id.uuid);
    const run = {
      uuid: id.uuid,
      name: id.name,
      flags: flagsFor(state.word === 'paused', isShared) | settings.flags,
      channel: settings.params,
      persistentXml: relocateDomainXml(persistentXml, relocation),
      relocate: (xml: string) => relocateDomainXml(xml, relocation),
      signal: report.signal,
      hasArrived: () => this.settlement.hasArrived(host, id.uuid).catch(() => undefined),
    };
    report.step(`Copying the memory${isShared ? '' : ' and the disks'} to ${host.context}`);
    const stop = followJob(id.uuid, report, { jobs: self.connection.jobs, clock: this.deps.clock });
    try {
      await withoutLeftoverNodes(id, self.connection, () => this.direct(run, host));
    } finally {
      await stop();
    }
  }

  /** A failed attempt leaves nothing in the connections of the next one. */
  private async direct(run: Omit<MigrationRun, 'source' | 'destination'>, host: MigrationHost): Promise<void> {
    const sessions: MigrationSession[] = [];
    const open = async ({ connection }: MigrationHost): Promise<MigrationSession> => {
      const session = await connection.migrations.open();
      sessions.push(session);
      return session;
    };
    try {
      const [source, destination] = [await open(this.deps.self), await open(host)];
      await runMigration({ ...run, source, destination });
    } finally {
      await Promise.all(sessions.map((session) => session.close()));
    }
  }

  /**
   * The guest continues on the source. The leftovers on the destination are removed, or later if it can't be reached.
   */
  private async fail({ id, host }: ReadyMigration, created: readonly string[], failure: unknown): Promise<void> {
    const { log, self } = this.deps;
    try {
      if (!(failure instanceof UnknownOutcome)) {
        // The VM may have been deleted meanwhile.
        if (!(await self.connection.domains.inspect(id.uuid))) {
          await closeChannel(host, id.uuid);
          return await removeCopies(host, created);
        }
        await this.settlement.cancel(id, created);
      }
      await this.settlement.settle(id);
    } catch (error) {
      log.warn({ domain: id.name, reason: messageOf(error) }, 'a failed migration is cleaned up later');
      this.settleInBackground(id);
    }
  }

  /** After the task has ended, which holds the disks. */
  private settleInBackground({ uuid, name }: PreparedMigration['id']): void {
    const { holds } = this.deps;
    const work = Promise.resolve()
      .then(() => holds.whenFree(uuid))
      .then(() => holds.run({ uuid, name }, () => this.settlement.settleLater({ uuid, name })))
      .catch((error: unknown) =>
        this.deps.log.warn({ domain: name, reason: messageOf(error) }, 'a failed migration could not be cleaned up'),
      );
    this.recoveries.add(work);
    void work.finally(() => this.recoveries.delete(work));
  }

  private async summarize({ id, host }: ReadyMigration, report: TaskReporter): Promise<void> {
    const job = await host.connection.jobs.last(id.uuid).catch(() => undefined);
    const parts = [
      ...(job?.elapsedMs === undefined ? [] : [`in ${job.elapsedMs} ms`]),
      ...(job?.memoryBytes === undefined ? [] : [`${formatBytes(wholeMebibytes(job.memoryBytes))} of memory`]),
    ];
    report.progress(1);
    report.log(`${id.name} runs on ${host.context}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`);
    if (job?.downtimeMs === undefined) return;
    report.log(`Downtime: ${job.downtimeMs} ms.`);
    report.outcome?.({ downtimeMs: job.downtimeMs });
  }
}

/** The service's metadata of a VM on a host, if it is there. */
async function metadataAt(
  { connection, finder }: MigrationHost,
  ref: InstanceRef,
): Promise<InstanceMetadata | undefined> {
  const found = (await finder.all()).find((one) => instanceNameOf(one.name, one.uuid) === ref.name);
  const domain = found && (await connection.domains.inspect(found.uuid));
  return domain && describeDomain(domain.xml).metadata;
}

const flagsFor = (isPaused: boolean, isShared: boolean): number =>
  MigrationFlag.live |
  MigrationFlag.persistDestination |
  MigrationFlag.changeProtection |
  MigrationFlag.abortOnError |
  MigrationFlag.autoConverge |
  (isPaused ? MigrationFlag.paused : 0) |
  // That the storage is shared was proven, while libvirt knows only a few file systems. The source has no files to
  // remove then.
  (isShared ? MigrationFlag.unsafe | MigrationFlag.undefineSource : MigrationFlag.copyStorage);

const MEBIBYTE = 1024 ** 2;
const wholeMebibytes = (bytes: number): number => Math.ceil(bytes / MEBIBYTE) * MEBIBYTE;

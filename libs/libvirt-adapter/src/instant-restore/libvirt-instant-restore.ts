import { rm } from 'node:fs/promises';
import {
  buildPlan,
  DomainError,
  InstantRestore,
  messageOf,
  RunningWork,
  type Clock,
  type DiskIngest,
  type IngestTarget,
  type InstanceRef,
  type InstantRestoreReport,
  type InstantRestoreSpec,
  type InstantRestoreState,
  type Log,
  type Plan,
} from '@headgate/domain-contracts';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { PendingChange } from '../domain-xml/snapshot-metadata.js';
import type { DomainEditor } from '../domains/domain-editor.js';
import { startDomain } from '../domains/start-domain.js';
import type { KeyedLock } from '../locks/concurrency.js';
import { volumeName } from '../moves/ingest-names.js';
import { NbdExportServer } from '../nbd/nbd-export-server.js';
import { checkServedDisks, type ServedDisksDeps } from '../storage/served-disks.js';
import { FillProgress } from './fill-progress.js';
import { RestoreFollower } from './restore-follower.js';
import { servedTargets, withServedBacking, type ServedBacking } from './served-backing.js';
import { exportNameOf, WatchedDisks } from './watched-disks.js';

export interface LibvirtInstantRestoreDeps extends ServedDisksDeps {
  readonly editor: DomainEditor;
  readonly lock: KeyedLock;
  readonly ingest: Pick<DiskIngest, 'commit' | 'state'>;
  readonly service: () => string;
  readonly clock: Clock;
  readonly log: Log;
  readonly createTemporaryFolder: () => Promise<string>;
}

/** Longer IDs would make the path of the socket too long. */
const folderOf = ({ id }: IngestTarget): string => `restore-${id.replaceAll('-', '').slice(0, 12)}`;
const SOCKET = 'n';
const socketOf = (backings: ReadonlyMap<string, ServedBacking>): string => [...backings.values()][0]?.socket ?? '';
const REHEARSED: IngestTarget['id'] = '0'.repeat(12);

/**
 * Starts VMs whose disks are empty files based on disks that this process serves. While the guest runs, libvirt copies
 * the content of these into the files, and this process does while it is off. The metadata of the domain names the
 * restore until its disks need the backup no longer.
 */
export class LibvirtInstantRestore extends InstantRestore {
  private readonly running = new RunningWork();

  constructor(private readonly deps: LibvirtInstantRestoreDeps) {
    super();
  }

  override async plan(ref: InstanceRef): Promise<Plan> {
    const { refusals } = await checkServedDisks(this.deps, `${folderOf({ id: REHEARSED, ref })}/${SOCKET}`);
    const steps = [
      { name: 'start', detail: `Start ${ref.name} with empty disks that are read from the backup.` },
      { name: 'copy', detail: `Copy the disks while ${ref.name} runs.` },
    ];
    return buildPlan(steps, { refusals });
  }

  override run(
    spec: InstantRestoreSpec,
    report: InstantRestoreReport,
    signal: AbortSignal,
  ): Promise<'complete' | 'absent'> {
    const { id, ref } = spec;
    const busy = (): DomainError => new DomainError('BUSY', `${ref.name} is being restored already.`);
    return this.running.run(id, { signal, busy }, async (either) => {
      const outcome = await this.serve(spec, report, either);
      await this.removeFolder(spec);
      return outcome;
    });
  }

  override async state(target: IngestTarget): Promise<InstantRestoreState> {
    const state = await this.deps.ingest.state(target);
    if (state === 'absent') return 'absent';
    const { description, isActive } = await this.deps.editor.read(target.id);
    if (state === 'partial') return isActive ? 'running' : 'blank';
    const { pending } = description.metadata;
    return pending?.kind === 'backup-restore' && pending.operation === target.id ? 'running' : 'complete';
  }

  override async discard(target: IngestTarget): Promise<void> {
    await this.running.whenEnded(target.id);
    const state = await this.state(target);
    if (state === 'absent' || state === 'complete') await this.removeFolder(target);
  }

  /** Serves no disk any more. Guests wait for the next start of the service. */
  close(): Promise<void> {
    return this.running.close();
  }

  private async serve(
    spec: InstantRestoreSpec,
    report: InstantRestoreReport,
    signal: AbortSignal,
  ): Promise<'complete' | 'absent'> {
    const state = await this.state(spec);
    signal.throwIfAborted();
    if (state === 'complete' || state === 'absent') return state;
    const { pool } = this.deps;
    await pool.ensure();
    const { owner, refusals } = await checkServedDisks(this.deps, `${folderOf(spec)}/${SOCKET}`);
    const [refusal] = state === 'blank' ? refusals : [];
    if (refusal) throw new DomainError(refusal.code, refusal.reason);
    await pool.createPrivateFolder(folderOf(spec), owner);
    const path = `${await pool.path()}/${folderOf(spec)}/${SOCKET}`;
    const disks = new WatchedDisks(spec.disks);
    // A service that was killed has left it.
    await rm(path, { force: true });
    const server = new NbdExportServer({ path, exports: disks.exports, onFailure: () => undefined });
    try {
      await server.listen();
      const backings = await this.backingsOf(spec, path);
      if (await this.start(spec, backings, report, signal)) report.started();
      const targets = [...backings.keys()];
      const progress = new FillProgress(
        targets.map((target, index) => ({ target, sizeBytes: spec.disks[index]?.sizeBytes ?? 0 })),
        report,
      );
      const follower = new RestoreFollower({ spec, socket: path, disks, targets, progress, report }, this.deps);
      return await follower.run(signal);
    } catch (error) {
      // It may be deleted at any moment, also right after its start.
      if (DomainError.is(error, 'INSTANCE_NOT_FOUND') && (await this.state(spec)) === 'absent') return 'absent';
      throw error;
    } finally {
      await server.close();
    }
  }

  /** @returns by the targets of the disks, in the order of the spec */
  private async backingsOf(spec: InstantRestoreSpec, socket: string): Promise<ReadonlyMap<string, ServedBacking>> {
    const { editor, pool } = this.deps;
    const folder = await pool.path();
    const { description } = await editor.read(spec.id);
    return new Map(
      spec.disks.map(({ name }, index) => {
        const path = `${folder}/${volumeName(spec, name)}`;
        const found = description.disks.find((disk) => disk.path === path);
        if (!found) throw new DomainError('DEVICE_NOT_FOUND', `${spec.ref.name} has no disk ${name}.`);
        return [found.target, { socket, exportName: exportNameOf(index) }];
      }),
    );
  }

  /** @returns whether the guest runs for the first time */
  private async start(
    spec: InstantRestoreSpec,
    backings: ReadonlyMap<string, ServedBacking>,
    report: InstantRestoreReport,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { connection, editor, lock, ingest, log } = this.deps;
    const { id, ref } = spec;
    const { domains } = connection;
    const isFirst = await lock.run(id, async () => {
      const { description, isActive } = await editor.read(id);
      if (description.metadata.provisioning === undefined) return false;
      if (isActive) return true;
      await editor.updateMetadata(id, (metadata) => ({ ...metadata, pending: this.pendingOf(spec, backings) }));
      await domains.define(withServedBacking(await domains.persistentXml(id), backings));
      // A guest with empty disks would be worse than none.
      const served = servedTargets(describeDomain(await domains.persistentXml(id)), socketOf(backings));
      if (served.length !== backings.size)
        throw new DomainError('NOT_SUPPORTED', `The libvirt of ${ref.context} does not keep the base of disks.`);
      await report.starting();
      signal.throwIfAborted();
      await startDomain(domains, id);
      return true;
    });
    // A service that is killed before finds a guest that runs, and completes this.
    if (isFirst) await ingest.commit(spec);
    if (isFirst) log.info({ domain: ref.name }, 'a VM runs from its backup');
    return isFirst;
  }

  private pendingOf({ id }: InstantRestoreSpec, backings: ReadonlyMap<string, ServedBacking>): PendingChange {
    const { service, clock } = this.deps;
    return {
      kind: 'backup-restore',
      service: service(),
      snapshot: '',
      startedAt: clock.iso(),
      wasRunning: false,
      operation: id,
      disks: [...backings.keys()].map((target) => ({ target, name: '', replaced: '' })),
    };
  }

  private async removeFolder(target: IngestTarget): Promise<void> {
    const { pool, log } = this.deps;
    try {
      if (!(await pool.state())?.isActive) return;
      await rm(`${await pool.path()}/${folderOf(target)}/${SOCKET}`, { force: true });
      await pool.remove(folderOf(target));
    } catch (error) {
      log.warn({ restore: target.id, reason: messageOf(error) }, 'the folder of a restore could not be removed');
    }
  }
}

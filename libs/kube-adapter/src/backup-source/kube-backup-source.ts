import { randomUUID } from 'node:crypto';
import {
  BackupSource,
  DomainError,
  throwFirstRefusal,
  type BackupDisk,
  type BackupReading,
  type BackupReadRequest,
  type InstanceRef,
  type Log,
  type Refusal,
} from '@headgate/domain-contracts';
import { ANNOTATION } from '../labels.js';
import { LeftOvers } from '../left-overs/left-overs.js';
import { startBeats } from '../left-overs/start-beats.js';
import { SNAPSHOTS } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { ClusterExports } from '../export/cluster-exports.js';
import { hasExports, NO_EXPORTS } from '../export/kube-export.js';
import { readVmState } from '../hardware/vm-hardware.js';
import { findVm, sourceRefusals, type FoundVm, type SnapshotObject } from '../snapshots/snapshot-objects.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { disksOfBackup, type BackedUpDisk, type DisksOfBackup } from './disks-of-backup.js';
import { consistencyOf, MomentSnapshots, type ReadingId } from './moment-snapshot.js';
import { RangeDisk } from './range-disk.js';
import { SnapshotExport } from './snapshot-export.js';

export interface KubeBackupSourceDeps extends WatchDeps {
  readonly discovery: ClusterDiscovery;
  readonly exports: ClusterExports;
  readonly log: Log;
  /** Where left-overs are looked for. Undefined: in all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
}

/** What a reading has created so far. */
interface Holding {
  readonly snapshot: SnapshotObject;
  readonly offer: SnapshotExport;
  readonly stopBeats: () => void;
  readonly disks: RangeDisk[];
}

interface Found extends DisksOfBackup {
  readonly vm: FoundVm;
}

const NOT_KEPT_ALIVE = 'the snapshot of a backup was not kept alive';
const LEFT_OVERS = {
  removed: 'a snapshot that a backup has left was removed',
  failed: 'the snapshots that backups have left were not looked for',
};
const NO_CHECKPOINTS =
  'A cluster keeps no record of changes, so everything is read, and the target stores the changed blocks.';

/**
 * Reads the disks of a VM from a snapshot of it, through an export of that snapshot. The guest is frozen only while
 * KubeVirt creates the snapshot; then it may be stopped, moved or deleted without a change of the bytes.
 */
export class KubeBackupSource extends BackupSource {
  private readonly snapshots: MomentSnapshots;
  private readonly leftOvers: LeftOvers;
  /** The uids of the VMs that are read. */
  private readonly held = new Set<string>();
  private readonly opened = new Set<BackupReading['close']>();
  private readonly working = new Set<Promise<unknown>>();
  private readonly ending = new AbortController();

  constructor(private readonly deps: KubeBackupSourceDeps) {
    super();
    this.snapshots = new MomentSnapshots(deps);
    const { discovery, namespaces } = deps;
    this.leftOvers = new LeftOvers({
      ...deps,
      ...(namespaces && { namespaces }),
      objects: this.snapshots,
      messages: LEFT_OVERS,
      isServed: () => discovery.latest?.serves(SNAPSHOTS.apiVersion) === true,
    });
  }

  override async check(ref: InstanceRef): Promise<readonly Refusal[]> {
    const { refusals, vm } = await this.find(ref);
    return this.held.has(uidOf(vm)) ? [...refusals, busy(ref)] : refusals;
  }

  override open(ref: InstanceRef, request: BackupReadRequest, signal: AbortSignal): Promise<BackupReading> {
    return this.track(this.openNow(ref, request, AbortSignal.any([signal, this.ending.signal])));
  }

  /** A cluster has no checkpoints. */
  override async end(): Promise<void> {
    // Nothing to remove.
  }

  override async endAll(): Promise<void> {
    // Nothing to remove.
  }

  /** Closes all readings, also those that are being opened, so that nothing is left in the cluster. */
  async close(): Promise<void> {
    this.ending.abort(new DomainError('WRONG_STATE', 'The service is shutting down.'));
    await Promise.allSettled(this.working);
    await Promise.allSettled([...this.opened].map((close) => close({ keep: false })));
    await this.leftOvers.close();
  }

  private async find(ref: InstanceRef): Promise<Found> {
    const { api, discovery } = this.deps;
    const state = await readVmState(this.deps, ref);
    const vm = await findVm(api, ref);
    const facts = await discovery.facts();
    const found = await disksOfBackup(this.deps, state);
    const refusals = [...found.refusals, ...sourceRefusals(vm, facts)];
    if (!hasExports(facts))
      refusals.push({ code: 'NOT_SUPPORTED', reason: NO_EXPORTS, remedy: 'Enable exports in the cluster.' });
    return { ...found, vm, refusals };
  }

  private async openNow(ref: InstanceRef, request: BackupReadRequest, signal: AbortSignal): Promise<BackupReading> {
    const found = await this.find(ref);
    signal.throwIfAborted();
    const uid = uidOf(found.vm);
    if (this.held.has(uid)) throw new DomainError('BUSY', busy(ref).reason);
    this.held.add(uid);
    try {
      await this.removeFormer(ref, request.series);
      throwFirstRefusal({ refusals: (await this.find(ref)).refusals });
      return await this.read(ref, { found, request }, signal);
    } catch (error) {
      this.held.delete(uid);
      throw error;
    }
  }

  /** One backup of a VM to a target runs at a time, so a snapshot of both belongs to a service that was killed. */
  private async removeFormer({ namespace, name }: InstanceRef, series: string): Promise<void> {
    for (const snapshot of await this.snapshots.all(namespace)) {
      const { spec, metadata } = snapshot;
      if (spec?.source?.name !== name || metadata.annotations?.[ANNOTATION.backupSeries] !== series) continue;
      await this.snapshots.remove(snapshot);
    }
  }

  private async read(
    ref: InstanceRef,
    { found, request }: { readonly found: Found; readonly request: BackupReadRequest },
    signal: AbortSignal,
  ): Promise<BackupReading> {
    const reading: ReadingId = { id: randomUUID(), series: request.series };
    const over = new AbortController();
    const either = AbortSignal.any([over.signal, this.ending.signal]);
    const snapshot = await this.snapshots.create(ref, reading);
    const source = { vm: ref.name, snapshot, reading, signal: either };
    const offer = new SnapshotExport({ exports: this.deps.exports, snapshots: this.snapshots }, source);
    const stopBeats = startBeats(snapshot, { ...this.deps, objects: this.snapshots, failed: NOT_KEPT_ALIVE });
    const holding: Holding = { snapshot, offer, stopBeats, disks: [] };
    const cancel = (): void => over.abort(signal.reason);
    signal.addEventListener('abort', cancel);
    try {
      const ready = await this.snapshots.whenReady(snapshot, ref.name, AbortSignal.any([signal, either]));
      await this.expectComplete(ref, { found, ready });
      const disks: BackupDisk[] = [];
      for (const disk of found.disks) disks.push(await this.openDisk(disk, holding, either));
      signal.throwIfAborted();
      const isRunning = found.vm.vmi !== undefined;
      const { consistency, warnings } = consistencyOf(ready, { isRunning });
      return {
        disks,
        consistency,
        warnings: [...found.warnings, ...warnings],
        ...(request.since !== undefined && { wholeReason: NO_CHECKPOINTS }),
        close: this.closing(holding, { over, uid: uidOf(found.vm), name: ref.name }),
      };
    } catch (error) {
      over.abort(error);
      // What can't be removed now has no beat any more, so a later look removes it.
      await this.release(holding).catch(() => undefined);
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  private async openDisk(
    { name, claim, sizeBytes }: BackedUpDisk,
    { offer, disks }: Holding,
    signal: AbortSignal,
  ): Promise<BackupDisk> {
    const imageBytes = await offer.sizeOf(claim);
    // A disk in a file system may not have grown to its size yet, which KubeVirt does at the next start.
    const size = Math.max(sizeBytes, imageBytes);
    const disk = new RangeDisk({
      clock: this.deps.clock,
      name: `The disk ${name}`,
      sizeBytes: size,
      imageBytes,
      signal,
      open: (from) => offer.open(claim, { from }),
    });
    disks.push(disk);
    return { name, sizeBytes: size, changed: 'all', read: (offset, length) => disk.read(offset, length) };
  }

  /** Another VM may have got the name, and a driver may have saved some of the disks only. */
  private async expectComplete(
    { name }: InstanceRef,
    { found, ready }: { readonly found: Found; readonly ready: SnapshotObject },
  ): Promise<void> {
    const { sourceUID, snapshotVolumes } = ready.status ?? {};
    if (sourceUID !== undefined && sourceUID !== uidOf(found.vm))
      throw new DomainError('CONFLICT', `${name} was replaced by another VM when the backup began.`);
    const saved = snapshotVolumes?.includedVolumes;
    const missing = saved ? found.disks.filter((disk) => !saved.includes(disk.name)) : [];
    if (missing.length > 0)
      throw new DomainError(
        'NOT_SUPPORTED',
        `The snapshot of ${name} is without ${missing.map((disk) => disk.name).join(', ')}: its storage has no snapshots.`,
      );
  }

  private closing(
    holding: Holding,
    { over, uid, name }: { readonly over: AbortController; readonly uid: string; readonly name: string },
  ): BackupReading['close'] {
    let closed: Promise<void> | undefined;
    const close: BackupReading['close'] = () => {
      closed ??= this.track(
        (async () => {
          over.abort(new DomainError('WRONG_STATE', `The backup of ${name} has ended.`));
          this.opened.delete(close);
          try {
            await this.release(holding);
          } finally {
            this.held.delete(uid);
          }
        })(),
      );
      return closed;
    };
    this.opened.add(close);
    return close;
  }

  /** The export first, because its volumes come from the snapshot. */
  private async release({ snapshot, offer, stopBeats, disks }: Holding): Promise<void> {
    stopBeats();
    for (const disk of disks) disk.close();
    // The cluster removes it with the snapshot.
    await offer.remove().catch(() => undefined);
    await this.snapshots.remove(snapshot);
  }

  private track<T>(work: Promise<T>): Promise<T> {
    this.working.add(work);
    void work.catch(() => undefined).finally(() => this.working.delete(work));
    return work;
  }
}

const uidOf = ({ vm }: FoundVm): string => vm.metadata.uid ?? '';

const busy = ({ name }: InstanceRef): Refusal => ({
  code: 'BUSY',
  reason: `${name} is already being backed up.`,
  remedy: 'Wait until that has ended.',
});

import type { IncomingMessage } from 'node:http';
import { DomainError } from '@headgate/domain-contracts';
import { ExportRemoved, type ClusterExports, type OwnExport } from '../export/cluster-exports.js';
import type { SnapshotObject } from '../snapshots/snapshot-objects.js';
import { backupLabels, ownerOf, snapshotGone, type MomentSnapshots, type ReadingId } from './moment-snapshot.js';
import type { OpenedRange } from './range-disk.js';

export interface SnapshotExportDeps {
  readonly exports: ClusterExports;
  readonly snapshots: MomentSnapshots;
}

export interface ExportedSnapshot {
  /** The name of the VM. */
  readonly vm: string;
  readonly snapshot: SnapshotObject;
  readonly reading: ReadingId;
  readonly signal: AbortSignal;
}

/**
 * Offers the disks of a snapshot. An export ends after its time to live, so a longer reading gets another one of the
 * same snapshot, whose bytes are the same.
 */
export class SnapshotExport {
  private current?: Promise<OwnExport>;

  constructor(
    private readonly deps: SnapshotExportDeps,
    private readonly source: ExportedSnapshot,
  ) {}

  /** @throws DomainError NOT_SUPPORTED when the cluster does not export the volume as an image */
  async sizeOf(claim: string): Promise<number> {
    const { stream, imageBytes } = await this.open(claim, { from: 0, to: 0 });
    stream.on('error', () => undefined).destroy();
    return imageBytes;
  }

  /** @throws DomainError SNAPSHOT_NOT_FOUND */
  async open(claim: string, range: { readonly from: number; readonly to?: number }): Promise<OpenedRange> {
    const { vm: subject, signal } = this.source;
    const own = await this.own();
    try {
      const ready = await this.deps.exports.whenReady(own, { subject, signal });
      const response = await this.deps.exports.open(ready, own.token, { claim, format: 'raw', range }, signal);
      try {
        return { stream: response, imageBytes: imageBytesOf(response, range.from) };
      } catch (error) {
        response.on('error', () => undefined).destroy();
        throw error;
      }
    } catch (error) {
      if (error instanceof ExportRemoved) this.current = undefined;
      throw error;
    }
  }

  /** No error if there is none. */
  async remove(): Promise<void> {
    const own = await this.current?.catch(() => undefined);
    if (own) await this.deps.exports.remove(own);
  }

  private own(): Promise<OwnExport> {
    this.current ??= this.create().catch((error: unknown) => {
      this.current = undefined;
      throw error;
    });
    return this.current;
  }

  private async create(): Promise<OwnExport> {
    const { snapshot, reading, vm } = this.source;
    const { namespace = '', name = '' } = snapshot.metadata;
    if (!(await this.deps.snapshots.exists(snapshot))) throw snapshotGone(vm);
    return this.deps.exports.create({
      namespace,
      source: { apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachineSnapshot', name },
      labels: backupLabels(reading),
      owner: ownerOf(snapshot),
    });
  }
}

/** Exporters answer with the wanted range, and those that know no ranges with all bytes. */
function imageBytesOf({ statusCode, headers }: IncomingMessage, from: number): number {
  const isWhole = statusCode === 200 && from === 0;
  const text = isWhole ? headers['content-length'] : /^bytes \d+-\d+\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1];
  const bytes = Number(text ?? NaN);
  if ((isWhole || statusCode === 206) && Number.isSafeInteger(bytes)) return bytes;
  throw new DomainError('NOT_SUPPORTED', 'The exporter of the cluster does not say how large a disk is.');
}

import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { KubeObject } from '@headgate/kube-sandbox';
import { sourceOf } from '../controllers/storage/data-volume-claim.js';
import { MIB, quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { PersistentVolumeClaim } from '../types/core-kinds.js';
import type { DataVolume } from '../types/data-volume.js';
import type { VolumeSnapshot } from '../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import { MemoryContent, type DiskContent } from './disk-content.js';
import { storeUpload } from './disk-upload.js';

const SECTOR = 512;
const BOOT_SIGNATURE = 0xaa55;
/** The size of a disk that was not uploaded, if its claim is larger. */
const LARGEST_IMAGE = 8 * MIB;

/**
 * The bytes on simulated disks: the uploaded ones, or else a small image derived from the claim's name. Snapshots,
 * restores and copies of a disk have its bytes.
 */
export class DiskContents {
  /** By the uid of a claim or of a volume snapshot. */
  private readonly written = new Map<string, DiskContent>();
  /** Ends the uploads that are in progress, by the uid of their claim. */
  private readonly uploads = new Map<string, AbortController>();

  constructor(private readonly context: SimulationContext) {
    this.follow<PersistentVolumeClaim>(
      RESOURCES.claim,
      ({ status }) => status?.phase === 'Bound',
      (claim) => this.originOf(claim),
    );
    this.follow<VolumeSnapshot>(
      RESOURCES.volumeSnapshot,
      ({ status }) => status?.readyToUse === true,
      ({ metadata, spec }) =>
        context.find(RESOURCES.claim, metadata.namespace, spec.source.persistentVolumeClaimName ?? ''),
    );
    this.followMigrations();
  }

  /** A migration to other claims copies the bytes of the disks. */
  private followMigrations(): void {
    this.context.store.subscribe(
      RESOURCES.vmi,
      ({ object, previous }) => {
        const { metadata, status } = object as VirtualMachineInstance;
        const before = (previous as VirtualMachineInstance | undefined)?.status;
        if (!before?.migratedVolumes || status?.migratedVolumes || before.nodeName === status?.nodeName) return;
        for (const { sourcePVCInfo, destinationPVCInfo } of before.migratedVolumes) {
          const [from, to] = [sourcePVCInfo, destinationPVCInfo].map(({ claimName }) =>
            this.context.find<PersistentVolumeClaim>(RESOURCES.claim, metadata.namespace, claimName),
          );
          if (from && to) this.store(to, this.of(from));
        }
      },
      { atRest: 'never' },
    );
  }

  /** Copies the bytes of an object's origin once the object is complete. */
  private follow<T extends KubeObject>(
    resource: string,
    isComplete: (object: T) => boolean,
    originOf: (object: T) => KubeObject | undefined,
  ): void {
    this.context.store.subscribe(
      resource,
      ({ type, object, previous }) => {
        if (type === 'DELETED') return this.remove(object);
        if (this.written.size === 0 || !isComplete(object as T) || (previous && isComplete(previous as T))) return;
        const content = this.written.get(originOf(object as T)?.metadata.uid ?? '');
        if (content) this.store(object, content);
      },
      { atRest: 'never' },
    );
  }

  /** The snapshot or the claim from which a claim was filled. */
  private originOf({ metadata, spec }: PersistentVolumeClaim): KubeObject | undefined {
    const { namespace, name, ownerReferences = [] } = metadata;
    if (spec.dataSource?.kind === 'VolumeSnapshot')
      return this.context.find(RESOURCES.volumeSnapshot, namespace, spec.dataSource.name);
    if (!ownerReferences.some(({ kind }) => kind === 'DataVolume')) return undefined;
    const dataVolume = this.context.find<DataVolume>(RESOURCES.dataVolume, namespace, name);
    const { pvc, snapshot } = (dataVolume && sourceOf(this.context, dataVolume)) ?? {};
    if (pvc) return this.context.find(RESOURCES.claim, pvc.namespace ?? namespace, pvc.name);
    return snapshot && this.context.find(RESOURCES.volumeSnapshot, snapshot.namespace ?? namespace, snapshot.name);
  }

  write(claim: PersistentVolumeClaim, data: Buffer): void {
    this.store(claim, new MemoryContent(data));
  }

  /** Replaces some bytes, as a guest does. The disk grows up to them. For small disks. */
  async overwrite(claim: PersistentVolumeClaim, offset: number, bytes: Buffer): Promise<void> {
    const before = Buffer.concat(await this.of(claim).read().toArray());
    const after = Buffer.alloc(Math.max(before.length, offset + bytes.length));
    before.copy(after);
    bytes.copy(after, offset);
    this.write(claim, after);
  }

  /** Whether an upload into the claim is in progress. */
  isReceiving(claim: PersistentVolumeClaim): boolean {
    return this.uploads.has(claim.metadata.uid!);
  }

  /**
   * Stores an upload. Only a complete one changes the disk; the deletion of the claim ends it.
   * @throws Error like `storeUpload`
   */
  async receive(claim: PersistentVolumeClaim, upload: Readable): Promise<void> {
    const uid = claim.metadata.uid!;
    const deletion = new AbortController();
    this.uploads.set(uid, deletion);
    try {
      const limits = { maxBytes: sizeOf(claim) || Infinity, signal: deletion.signal };
      const content = await storeUpload(upload, limits);
      this.store(claim, content);
    } finally {
      this.uploads.delete(uid);
    }
  }

  of(claim: PersistentVolumeClaim): DiskContent {
    return this.written.get(claim.metadata.uid!) ?? new MemoryContent(blankImage(claim));
  }

  /** Ends the uploads and frees the disks. */
  close(): void {
    for (const upload of this.uploads.values()) upload.abort();
    for (const content of this.written.values()) content.release();
    this.written.clear();
  }

  private store({ metadata: { uid = '' } }: KubeObject, content: DiskContent): void {
    const previous = this.written.get(uid);
    this.written.set(uid, content.retain());
    previous?.release();
  }

  private remove({ metadata: { uid = '' } }: KubeObject): void {
    this.uploads.get(uid)?.abort();
    this.written.get(uid)?.release();
    this.written.delete(uid);
  }
}

const sizeOf = ({ status, spec }: PersistentVolumeClaim): number =>
  quantityValue(status?.capacity?.storage ?? spec.resources?.requests?.storage);

/**
 * A disk with a partition table and its name in the first sectors, otherwise empty. Every read returns the same bytes.
 */
function blankImage(claim: PersistentVolumeClaim): Buffer {
  const { metadata } = claim;
  const size = Math.max(SECTOR * 64, Math.min(LARGEST_IMAGE, sizeOf(claim) || LARGEST_IMAGE));
  const image = Buffer.alloc(Math.floor(size / SECTOR) * SECTOR);
  image.writeUInt8(0x83, 446 + 4);
  image.writeUInt32LE(32, 446 + 8);
  image.writeUInt32LE(image.length / SECTOR - 32, 446 + 12);
  image.writeUInt16LE(BOOT_SIGNATURE, 510);
  image.write(`simulated disk ${metadata.namespace}/${metadata.name}\n`, SECTOR);
  createHash('sha512')
    .update(`${metadata.namespace}/${metadata.name}`)
    .digest()
    .copy(image, SECTOR * 2);
  return image;
}

import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { KubeObject } from '@headgate/kube-sandbox';
import { sourceOf } from '../controllers/storage/data-volume-claim.js';
import { MIB, quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { PersistentVolumeClaim } from '../types/core-kinds.js';
import type { DataVolume } from '../types/data-volume.js';
import type { VolumeSnapshot } from '../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';

const SECTOR = 512;
const BOOT_SIGNATURE = 0xaa55;
/** The limit of a simulated disk, whatever the size of its claim. */
const LARGEST_IMAGE = 8 * MIB;
const GZIP_MAGIC = 0x1f8b;

/**
 * The bytes on simulated disks: the uploaded ones, or else a small image derived from the claim's name. Snapshots, restores and
 * copies of a disk have its bytes.
 */
export class DiskContents {
  /** By the uid of a claim or of a volume snapshot. */
  private readonly uploaded = new Map<string, Buffer>();

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
          if (from && to) this.uploaded.set(to.metadata.uid!, this.raw(from));
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
        const uid = object.metadata.uid!;
        if (type === 'DELETED') return void this.uploaded.delete(uid);
        if (this.uploaded.size === 0 || !isComplete(object as T) || (previous && isComplete(previous as T))) return;
        const bytes = this.uploaded.get(originOf(object as T)?.metadata.uid ?? '');
        if (bytes) this.uploaded.set(uid, bytes);
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

  /** Stores an upload; gzip is unpacked, other formats are stored unchanged. */
  write(claim: PersistentVolumeClaim, data: Buffer): void {
    const packed = data.length > 2 && data.readUInt16BE(0) === GZIP_MAGIC;
    this.uploaded.set(claim.metadata.uid!, packed ? gunzipSync(data) : data);
  }

  raw(claim: PersistentVolumeClaim): Buffer {
    return this.uploaded.get(claim.metadata.uid!) ?? blankImage(claim);
  }

  gzip(claim: PersistentVolumeClaim): Buffer {
    return gzipSync(this.raw(claim));
  }
}

/** A disk with a partition table and its name in the first sectors, otherwise empty. Every read returns the same bytes. */
function blankImage({ metadata, status, spec }: PersistentVolumeClaim): Buffer {
  const asked = quantityValue(status?.capacity?.storage ?? spec.resources?.requests?.storage);
  const size = Math.max(SECTOR * 64, Math.min(LARGEST_IMAGE, asked || LARGEST_IMAGE));
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

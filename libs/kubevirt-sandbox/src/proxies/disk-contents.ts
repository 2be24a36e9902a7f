import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { MIB, quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { PersistentVolumeClaim } from '../types/core-kinds.js';
import type { SimulationContext } from '../simulation-context.js';

const SECTOR = 512;
const BOOT_SIGNATURE = 0xaa55;
/** The limit of a simulated disk, whatever the size of its claim. */
const LARGEST_IMAGE = 8 * MIB;
const GZIP_MAGIC = 0x1f8b;

/** The bytes on simulated disks: the uploaded ones, or else a small image derived from the claim's name. */
export class DiskContents {
  private readonly uploaded = new Map<string, Buffer>();

  constructor(private readonly context: SimulationContext) {
    context.store.subscribe(
      RESOURCES.claim,
      ({ type, object }) => {
        if (type === 'DELETED') this.uploaded.delete(object.metadata.uid!);
      },
      { atRest: 'never' },
    );
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

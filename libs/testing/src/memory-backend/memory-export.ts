import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { DiskExport, DomainError, formatRef, type ExportFormat, type InstanceRef } from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

const DISK_BYTES = 65_536;
const BOOT_SIGNATURE = 0xaa55;
const QCOW2_MAGIC = 'QFI\xfb';
const BACKING_FILE_OFFSET = 512;

/** The content of the boot disk: a boot sector and the name of the VM, until something else is written. */
export function memoryDisk(engine: MemoryEngine, ref: InstanceRef, name = 'vda'): Buffer {
  const written = engine.disks.get(`${formatRef(ref)} ${name}`);
  if (written) return written;
  const disk = Buffer.alloc(DISK_BYTES);
  disk.write(ref.name, 1024);
  disk.writeUInt16LE(BOOT_SIGNATURE, 510);
  return disk;
}

export class MemoryExport extends DiskExport {
  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async check(ref: InstanceRef): Promise<void> {
    const { status } = this.engine.vm(ref);
    if (status !== 'Stopped') throw new DomainError('WRONG_STATE', `${ref.name} is ${status}: stop it first.`);
  }

  override async open(ref: InstanceRef, format: ExportFormat, signal: AbortSignal): Promise<Readable> {
    await this.check(ref);
    signal.throwIfAborted();
    const disk = memoryDisk(this.engine, ref);
    return Readable.from([format === 'raw.gz' ? gzipSync(disk) : qcow2Of(disk)], { signal });
  }
}

/** A header with the name of the image below, and the content. */
export function qcow2Of(content: Buffer, backingFile = ''): Buffer {
  const header = Buffer.alloc(DISK_BYTES);
  header.write(QCOW2_MAGIC, 'latin1');
  if (backingFile !== '') {
    header.writeBigUInt64BE(BigInt(BACKING_FILE_OFFSET), 8);
    header.writeUInt32BE(header.write(backingFile, BACKING_FILE_OFFSET), 16);
  }
  return Buffer.concat([header, content]);
}

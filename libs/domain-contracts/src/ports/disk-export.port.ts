import type { Readable } from 'node:stream';
import type { InstanceRef } from '../values/instance-ref.js';

/**
 * `raw.gz`: the guest-visible content of the disk, compressed with gzip. `qcow2`: a compressed image without a backing
 * file.
 */
export type ExportFormat = 'raw.gz' | 'qcow2';

/** Reads the boot disk of a stopped VM. */
export abstract class DiskExport {
  /**
   * Opens an export. Data is produced only as fast as it is read. Destroying the stream ends everything behind it and
   * removes its temporary files and objects, as does `signal` before the stream is returned.
   * @throws DomainError INSTANCE_NOT_FOUND, WRONG_STATE when the VM is not stopped, NOT_SUPPORTED when it has no disk
   * that can be exported, or when the format needs a converter that is not installed; INSUFFICIENT_STORAGE
   */
  abstract open(ref: InstanceRef, format: ExportFormat, signal: AbortSignal): Promise<Readable>;

  /** Checks what `open` checks, without opening anything. @throws DomainError like `open` */
  abstract check(ref: InstanceRef, format: ExportFormat): Promise<void>;
}

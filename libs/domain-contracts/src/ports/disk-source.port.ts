import type { Readable } from 'node:stream';
import { DomainError } from '../values/domain-error.js';
import type { VmReading } from '../model/portable-vm.js';
import type { InstanceRef } from '../values/instance-ref.js';

/** A file or a block device of the machine on which the service runs, with the content of a disk. */
export interface LocalDisk {
  /** Absolute. */
  readonly path: string;
  /**
   * As its backend has it. Never probed: the guest writes the content of its disk, which could look like an image that
   * names other files.
   */
  readonly format: string;
}

/** Reads VMs for a copy on another backend. */
export abstract class DiskSource {
  /**
   * The VM without the content of its disks, whether it runs or not. Changes nothing.
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE
   */
  abstract describe(ref: InstanceRef): Promise<VmReading>;

  /**
   * The content of a disk of a stopped VM, as the guest sees it, from its first to its last byte. It is read only as
   * fast as the stream is. Destroying the stream frees the disk, as does `signal` before the stream is returned.
   * @param disk a name of the reading
   * @throws DomainError INSTANCE_NOT_FOUND, DEVICE_NOT_FOUND, WRONG_STATE when the VM is not stopped, BUSY when another
   *   program uses the disk
   */
  abstract open(ref: InstanceRef, disk: string, signal: AbortSignal): Promise<Readable>;

  /**
   * Where a disk of a stopped VM is on the machine of the service, so that another program can read it there in place
   * of a stream; undefined if it is nowhere on that machine. The program has to hold the disk while it reads it, as
   * `open` does.
   * @throws DomainError like `open`
   */
  async localDisk(_ref: InstanceRef, _disk: string): Promise<LocalDisk | undefined> {
    return undefined;
  }

  /** The variables of the firmware of a stopped VM whose reading has their size. @throws DomainError like `open` */
  readFirmwareVariables({ name }: InstanceRef): Promise<Buffer> {
    return Promise.reject(
      new DomainError('NOT_SUPPORTED', `The firmware of ${name} has no variables that can be read.`),
    );
  }
}

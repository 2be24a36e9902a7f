import type { Readable } from 'node:stream';
import type { VmReading } from '../model/portable-vm.js';
import type { InstanceRef } from '../values/instance-ref.js';

/** Reads VMs for a copy on another backend. */
export abstract class DiskSource {
  /**
   * The VM without the content of its disks, whether it runs or not. Changes nothing.
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE
   */
  abstract describe(ref: InstanceRef): Promise<VmReading>;

  /**
   * The content of a disk of a stopped VM, as the guest sees it, from its first to its last byte. It is read only as fast as the stream is.
   * Destroying the stream frees the disk, as does `signal` before the stream is returned.
   * @param disk a name of the reading
   * @throws DomainError INSTANCE_NOT_FOUND, DEVICE_NOT_FOUND, WRONG_STATE when the VM is not stopped, BUSY when another program uses the disk
   */
  abstract open(ref: InstanceRef, disk: string, signal: AbortSignal): Promise<Readable>;
}

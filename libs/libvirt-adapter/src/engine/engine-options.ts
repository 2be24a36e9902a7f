import type { Clock, Log } from '@headgate/domain-contracts';
import type { FreeSpace } from '@headgate/downloads';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { Accelerator } from '../host/host.js';
import type { RunProgram } from '../programs/run-program.js';

/** How one libvirt is reached and used. */
export interface LibvirtEngineOptions {
  /** The name that the operator gave it. */
  readonly context: string;
  /** https://libvirt.org/uri.html */
  readonly uri: string;
  /** A private folder for downloads. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log?: Log;
  /** The result of a probe; defaults to the capabilities that libvirt reports. */
  readonly accelerator?: () => Promise<Accelerator>;
  /** Exceptions from the ranges to which downloads may not connect: addresses, ranges and host names. */
  readonly importAllow?: readonly string[];
  /** The location of the storage pool if it has to be created. */
  readonly poolPath?: string;
  /** Replaces the measurement of free space in tests. */
  readonly freeSpace?: FreeSpace;
  /** Replaces the way to libvirt; closed with the backend. */
  readonly connection?: LibvirtConnection;
  /** Replaces virsh and qemu-img in tests. */
  readonly run?: RunProgram;
}

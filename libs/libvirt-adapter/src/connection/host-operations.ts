import type { CallOptions } from './libvirt-connection.js';

export abstract class HostOperations {
  abstract hostname(): Promise<string>;
  /** Such as `libvirt 9.0.0, QEMU 7.2.22`. */
  abstract version(options?: CallOptions): Promise<string>;
  /** https://libvirt.org/formatcaps.html */
  abstract capabilities(): Promise<string>;
  /** https://libvirt.org/formatdomaincaps.html */
  abstract domainCapabilities(options?: CallOptions): Promise<string>;
  abstract memoryBytes(): Promise<number>;
}

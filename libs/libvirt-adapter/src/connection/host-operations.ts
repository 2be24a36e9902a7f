import type { CallOptions } from './call-options.js';

export interface NodeInfo {
  readonly memoryBytes: number;
  readonly cpus: number;
}

/** The domains that a question is about. */
export interface DomainKind {
  readonly virtType: 'kvm' | 'qemu';
  /** As in a guest's `<type>` element. */
  readonly arch: string;
  readonly machine: string;
}

export abstract class HostOperations {
  abstract hostname(): Promise<string>;
  /** Such as `libvirt 9.0.0, QEMU 7.2.22`. */
  abstract version(options?: CallOptions): Promise<string>;
  /** https://libvirt.org/formatcaps.html */
  abstract capabilities(): Promise<string>;
  /**
   * https://libvirt.org/formatdomaincaps.html
   * @param kind the default of the machine if it is absent
   */
  abstract domainCapabilities(kind?: DomainKind, options?: CallOptions): Promise<string>;
  abstract node(): Promise<NodeInfo>;
}

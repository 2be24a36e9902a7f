import type { CallOptions } from './call-options.js';

export interface NodeInfo {
  readonly memoryBytes: number;
  readonly cpus: number;
}

export interface NodeUsage {
  /** The time that all CPUs together have worked since the node started. */
  readonly cpuTimeMs: number;
  /** Without buffers and caches. */
  readonly memoryUsedBytes: number;
}

/** The domains that a question is about. */
export interface DomainKind {
  readonly virtType: 'kvm' | 'qemu';
  /** As in a guest's `<type>` element. */
  readonly arch: string;
  readonly machine: string;
}

/** @param values nanoseconds and KiB, by libvirt's names */
export function nodeUsageOf(values: Readonly<Record<string, number>>): NodeUsage {
  const { user = 0, kernel = 0, total = 0, free = 0, buffers = 0, cached = 0 } = values;
  return {
    cpuTimeMs: (user + kernel) / 1e6,
    memoryUsedBytes: Math.max(0, total - free - buffers - cached) * 1024,
  };
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
  abstract usage(): Promise<NodeUsage>;
}

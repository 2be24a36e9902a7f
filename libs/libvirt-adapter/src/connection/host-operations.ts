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

/** The numbers of the CPUs of a node. */
export interface NodeCpus {
  readonly online: readonly number[];
  readonly offline: readonly number[];
}

/** The domains that a question is about. */
export interface DomainKind {
  readonly virtType: 'kvm' | 'qemu';
  /** As in a guest's `<type>` element. */
  readonly arch: string;
  readonly machine: string;
}

/** The CPUs of a node that has `present` of them. Their numbers may have gaps where CPUs were removed. */
export function nodeCpusOf(online: readonly number[], present: number): NodeCpus {
  const known = new Set(online);
  const offline: number[] = [];
  for (let cpu = 0; known.size + offline.length < present; cpu++) if (!known.has(cpu)) offline.push(cpu);
  return { online, offline };
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
  abstract cpus(): Promise<NodeCpus>;
  /**
   * The free pages of a NUMA node, in the order of the sizes.
   * @param pageKib the sizes in KiB
   */
  abstract freePages(numaNode: number, pageKib: readonly number[]): Promise<number[]>;
  /** https://libvirt.org/formatnode.html of all devices of the node; without those that disappear meanwhile. */
  abstract devices(): Promise<string[]>;
}

import { formatBytes } from '../values/quantity.js';

/** CPUs that a cluster reserves for one VM. The cluster chooses them. */
export interface DedicatedCpus {
  readonly isOn: boolean;
  /** Whether the emulator has a CPU of its own besides them. */
  readonly isolatesEmulator: boolean;
  /** Whether the guest sees the NUMA nodes of its CPUs. */
  readonly passesNuma: boolean;
}

/** The CPUs of the host on which one CPU of the guest runs. */
export interface VcpuPin {
  readonly vcpu: number;
  /** Such as `0-3,8`. */
  readonly cpus: string;
}

/** The NUMA nodes of the host that have the memory of the guest. */
export interface MemoryNodes {
  /** `strict`: only these; `preferred`: one node, others when it is full; `interleave`: all of them in turn. */
  readonly mode: string;
  /** Such as `0-1`; `auto` if libvirt chooses them. */
  readonly nodes: string;
}

export const MEMORY_NODE_MODES = ['strict', 'preferred', 'interleave'] as const;

/** A NUMA node of the guest. */
export interface GuestCell {
  /** CPUs of the guest. */
  readonly cpus: string;
  readonly memoryBytes: number;
}

/** CPUs and memory of one host that are chosen for a VM. */
export interface CpuPinning {
  /** The pinned CPUs of the guest; the others run anywhere. */
  readonly vcpus: readonly VcpuPin[];
  /** The CPUs of the host on which the emulator runs; empty for any. */
  readonly emulatorCpus: string;
  readonly memory: MemoryNodes | null;
  /** The NUMA nodes of the guest, in their order; empty if it has none. */
  readonly cells: readonly GuestCell[];
}

/** Where the CPUs and the memory of a VM are on its host, as of its next start. */
export interface Placement {
  /** Null where the backend does not reserve CPUs itself. */
  readonly dedicated: DedicatedCpus | null;
  /** Null where the backend does not let users choose the CPUs. */
  readonly pinning: CpuPinning | null;
  /** The size of the pages that back the memory; null for the ordinary ones of the host. */
  readonly hugepageBytes: number | null;
}

/** Places the CPUs and the memory of a VM. Absent fields stay as they are. */
export interface SetPlacementChange {
  readonly kind: 'set-placement';
  readonly dedicated?: Partial<DedicatedCpus>;
  /** `vcpus` and `cells` replace the whole lists. */
  readonly pinning?: Partial<CpuPinning>;
  readonly hugepageBytes?: number | null;
  /**
   * Whether to stop and start a running VM if it can't change while it runs; otherwise the change waits for its next
   * start.
   */
  readonly restart: boolean;
}

/** The placement in a few words, for the audit log: `pin CPU 0 to 2-3, use pages of 2Mi`. */
export function describePlacementChange({ dedicated, pinning, hugepageBytes }: SetPlacementChange): string {
  const { isOn, isolatesEmulator, passesNuma } = dedicated ?? {};
  const { vcpus, emulatorCpus, memory, cells } = pinning ?? {};
  const parts = [
    ...(isOn === undefined ? [] : [isOn ? 'reserve CPUs' : 'share CPUs']),
    ...(isolatesEmulator === undefined ? [] : [`${isolatesEmulator ? 'isolate' : 'do not isolate'} the emulator`]),
    ...(passesNuma === undefined ? [] : [`${passesNuma ? 'show' : 'hide'} NUMA nodes`]),
    ...(vcpus?.length === 0 ? ['unpin the CPUs'] : (vcpus ?? []).map(({ vcpu, cpus }) => `pin CPU ${vcpu} to ${cpus}`)),
    ...(emulatorCpus === undefined
      ? []
      : [emulatorCpus === '' ? 'unpin the emulator' : `pin the emulator to ${emulatorCpus}`]),
    ...(memory === undefined ? [] : [memory ? `take memory of NUMA nodes ${memory.nodes}` : 'take memory of any node']),
    ...(cells === undefined ? [] : [cells.length === 0 ? 'remove the NUMA nodes' : `use ${cells.length} NUMA nodes`]),
    ...(hugepageBytes === undefined
      ? []
      : [hugepageBytes === null ? 'use ordinary pages' : `use pages of ${formatBytes(hugepageBytes)}`]),
  ];
  return parts.join(', ');
}

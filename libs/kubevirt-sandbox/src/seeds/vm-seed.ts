import type { RunStrategy } from '../types/virtual-machine.js';

/** The steady states in which a VM can be seeded. */
export type SeededVmStatus = 'Running' | 'Stopped' | 'Paused' | 'ErrorUnschedulable' | 'DataVolumeError';

export interface VmSeed {
  name: string;
  /** Default `tailvm`. */
  namespace?: string;
  /** Default Running. */
  status?: SeededVmStatus;
  /** Default: Always for a running VM, Halted for a stopped one. */
  runStrategy?: RunStrategy;
  node?: string;
  /** Sockets; default 2. */
  cpu?: number;
  /** A quantity; default `4Gi`. */
  memory?: string;
  /** A quantity; default `20Gi`. */
  disk?: string;
  /** The source of the disk; its name indicates the operating system. Default: a Fedora image. */
  image?: string;
  /** A container disk instead of a claim. */
  containerDisk?: string;
  storageClass?: string;
  instancetype?: string;
  preference?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** Whether the guest agent is connected; default true. */
  agent?: boolean;
  /** Default: now. */
  createdAt?: Date;
  /** When the guest was started; default: when the VM was created. */
  startedAt?: Date;
  /** Annotations of the template, for example faults. */
  templateAnnotations?: Record<string, string>;
}

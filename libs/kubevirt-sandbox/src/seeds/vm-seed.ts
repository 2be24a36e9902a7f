import type { RunStrategy } from '../types/virtual-machine.js';

/** The steady states in which a VM can be put into the cluster. */
export type SeededVmStatus = 'Running' | 'Stopped' | 'Paused' | 'ErrorUnschedulable' | 'DataVolumeError';

export interface VmSeed {
  name: string;
  /** Default `tailvm`. */
  namespace?: string;
  /** Default Running. */
  status?: SeededVmStatus;
  /** Default: Always for one that runs, Halted for one that does not. */
  runStrategy?: RunStrategy;
  node?: string;
  /** Sockets; default 2. */
  cpu?: number;
  /** A quantity; default `4Gi`. */
  memory?: string;
  /** A quantity; default `20Gi`. */
  disk?: string;
  /** Where the disk came from; its name tells the operating system. Default: a Fedora image. */
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
  /** For the template: faults, for example. */
  templateAnnotations?: Record<string, string>;
}

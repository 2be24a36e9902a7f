import type { KubeObject } from '@headgate/kube-sandbox';
import type { Condition } from './condition.js';
import type { DataVolumeSpec } from './data-volume.js';
import type { Disk, MigratedVolume, VmiSpec, Volume } from './virtual-machine-instance.js';

export type RunStrategy = 'Always' | 'Halted' | 'Manual' | 'RerunOnFailure' | 'Once' | 'WaitAsReceiver';

export interface Matcher {
  name?: string;
  kind?: string;
  revisionName?: string;
  inferFromVolume?: string;
}

export interface DataVolumeTemplate {
  metadata: { name: string; namespace?: string; annotations?: Record<string, string>; labels?: Record<string, string> };
  spec: DataVolumeSpec;
}

export interface StateChangeRequest {
  action: 'Start' | 'Stop';
  uid?: string;
  data?: Record<string, string>;
}

export interface AddVolumeOptions {
  name: string;
  disk: Disk;
  volumeSource: Pick<Volume, 'dataVolume' | 'persistentVolumeClaim'>;
  dryRun?: string[];
}

export interface VolumeRequest {
  addVolumeOptions?: AddVolumeOptions;
  removeVolumeOptions?: { name: string };
}

export interface VmSpec {
  running?: boolean;
  runStrategy?: RunStrategy;
  instancetype?: Matcher;
  preference?: Matcher;
  dataVolumeTemplates?: DataVolumeTemplate[];
  updateVolumesStrategy?: string;
  template: { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec: VmiSpec };
}

export interface MatcherStatus extends Matcher {
  controllerRevisionRef?: { name: string };
}

export interface VmStatus {
  printableStatus?: string;
  created?: boolean;
  ready?: boolean;
  runStrategy?: RunStrategy;
  conditions?: Condition[];
  stateChangeRequests?: StateChangeRequest[];
  volumeRequests?: VolumeRequest[];
  volumeSnapshotStatuses?: { name: string; enabled: boolean; reason?: string }[];
  volumeUpdateState?: { volumeMigrationState?: { migratedVolumes?: MigratedVolume[] } };
  snapshotInProgress?: string;
  restoreInProgress?: string;
  startFailure?: { consecutiveFailCount: number; lastFailedVMIUID?: string; retryAfterTimestamp?: string };
  instancetypeRef?: MatcherStatus;
  preferenceRef?: MatcherStatus;
  observedGeneration?: number;
  desiredGeneration?: number;
}

export interface VirtualMachine extends KubeObject {
  spec: VmSpec;
  status?: VmStatus;
}

/** The run strategy in force; `running` is its old form. */
export function runStrategyOf({ spec }: VirtualMachine): RunStrategy {
  if (spec.runStrategy) return spec.runStrategy;
  return spec.running ? 'Always' : 'Halted';
}

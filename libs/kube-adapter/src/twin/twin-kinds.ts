import {
  CDI_CONFIGS,
  CDIS,
  CLAIMS,
  CLUSTER_INSTANCETYPES,
  CLUSTER_PREFERENCES,
  DATA_VOLUMES,
  INSTANCETYPES,
  KUBEVIRTS,
  MIGRATIONS,
  NETWORK_ATTACHMENTS,
  NODES,
  PODS,
  SNAPSHOTS,
  STORAGE_CAPACITIES,
  STORAGE_CLASSES,
  VIRTUAL_MACHINES,
  VM_INSTANCES,
  VOLUME_SNAPSHOT_CLASSES,
  type Resource,
} from '../api/resources.js';

/** A kind of object that a twin needs. */
export interface TwinKind {
  readonly resource: Resource;
  /** Without it there is no twin. */
  readonly isRequired?: true;
  /** The name of the only object, which the account may get and not list. */
  readonly only?: string;
}

/**
 * The kinds in the order in which they are read: a guest that starts meanwhile has its pod by then. All of them are
 * among those that the service may list anyway. Secrets are not.
 */
export const TWIN_KINDS: readonly TwinKind[] = [
  { resource: KUBEVIRTS },
  { resource: CDIS },
  { resource: CDI_CONFIGS, only: 'config' },
  { resource: NODES },
  { resource: STORAGE_CLASSES },
  { resource: STORAGE_CAPACITIES },
  { resource: VOLUME_SNAPSHOT_CLASSES },
  { resource: NETWORK_ATTACHMENTS },
  { resource: CLUSTER_INSTANCETYPES },
  { resource: CLUSTER_PREFERENCES },
  { resource: INSTANCETYPES },
  { resource: SNAPSHOTS },
  { resource: DATA_VOLUMES },
  { resource: CLAIMS, isRequired: true },
  { resource: MIGRATIONS },
  { resource: VIRTUAL_MACHINES, isRequired: true },
  { resource: VM_INSTANCES, isRequired: true },
  { resource: PODS, isRequired: true },
];

/** What no twin has, whatever the account may read. */
export const NEVER_READ: readonly string[] = [
  'Secrets are not read: those that VMs name are empty.',
  'Quotas, disruption budgets, network policies and the contents of snapshots are not read.',
];

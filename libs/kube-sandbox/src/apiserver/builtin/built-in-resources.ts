import type { ResourceDefinition } from '../resource-definition.js';
import { controllerRevisions, deployments, replicaSets } from './apps.js';
import { clusterResources } from './cluster.js';
import { configMaps, secrets } from './config-map-and-secret.js';
import { jobs } from './job.js';
import { namespaces } from './namespace.js';
import { nodes } from './node.js';
import { podDisruptionBudgets } from './pod-disruption-budget.js';
import { quotas } from './quota.js';
import { endpoints, services } from './service.js';
import { serviceAccounts } from './service-account.js';
import { events, newEvents } from './event.js';
import { pods } from './pod.js';
import { storedKinds } from './stored-kinds.js';
import { persistentVolumeClaims, persistentVolumes, storageClasses } from './storage.js';

/** The resources that are served without any extension. */
export const builtInResources: ResourceDefinition[] = [
  namespaces,
  nodes,
  pods,
  services,
  endpoints,
  configMaps,
  secrets,
  serviceAccounts,
  events,
  persistentVolumeClaims,
  persistentVolumes,
  ...quotas,
  podDisruptionBudgets,
  deployments,
  replicaSets,
  controllerRevisions,
  jobs,
  storageClasses,
  ...storedKinds,
  ...clusterResources,
  newEvents,
];

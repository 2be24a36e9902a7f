import type { ResourceDefinition } from '../resource-definition.js';
import { deployments, replicaSets } from './apps.js';
import { clusterResources } from './cluster.js';
import { configMaps, endpoints, namespaces, nodes, quotas, secrets, serviceAccounts, services } from './core.js';
import { events, newEvents } from './event.js';
import { pods } from './pod.js';
import { persistentVolumeClaims, persistentVolumes, storageClasses } from './storage.js';

/** What the server knows without any extension. */
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
  deployments,
  replicaSets,
  storageClasses,
  ...clusterResources,
  newEvents,
];

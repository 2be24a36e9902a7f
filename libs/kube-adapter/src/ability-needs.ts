import type { AbilityName } from '@headgate/domain-contracts';
import { SNAPSHOTS } from './api/resources.js';
import { NEEDS_CDI, PROOF_NEEDS_CDI, type ClusterFacts } from './discovery/cluster-facts.js';
import { moveObstacle } from './disk-move/move-support.js';
import { hasExports } from './export/kube-export.js';

/** Returns the reason why a cluster can't have an ability, one sentence; undefined if it can. */
export type Need = (facts: ClusterFacts, context: string) => string | undefined;

/** The needs of each ability. An ability that is missing here does not compile. */
export type AbilityNeeds = { readonly [K in AbilityName]: readonly Need[] };

const BACKUPS_NOT_USED =
  'Checkpoints are not available: a backup through backup.kubevirt.io deletes the checkpoint that it is based on. Export the disk of the stopped VM.';

const kubevirt: Need = (facts, context) =>
  facts.hasKubevirt ? undefined : `${context} has no KubeVirt: the API kubevirt.io/v1 is not served.`;
const cdi: Need = (facts) => (facts.hasCdi ? undefined : NEEDS_CDI);
const cdiForProofs: Need = (facts) => (facts.hasCdi ? undefined : PROOF_NEEDS_CDI);
const noBackupApi: Need = (facts) => (facts.servesGroup('backup.kubevirt.io') ? BACKUPS_NOT_USED : undefined);
const snapshotsForBackups: Need = (facts) =>
  facts.serves(SNAPSHOTS.apiVersion) && facts.isGateEnabled('Snapshot')
    ? undefined
    : "Backups need KubeVirt's snapshots: enable its feature gate Snapshot.";
const exportsForBackups: Need = (facts) =>
  hasExports(facts) ? undefined : "Backups need KubeVirt's exports: enable its feature gate VMExport.";

/**
 * What a cluster needs for each ability besides the permissions of `rbac.ts`: the APIs and features that its discovery
 * reports. The first need that is not met is the reason that users see. Containers with their consoles, logs,
 * files and events, the nodes and the doctor work in any cluster.
 */
export const ABILITY_NEEDS: AbilityNeeds = {
  inventory: [],
  power: [kubevirt],
  provisioning: [kubevirt],
  diskBuilds: [kubevirt],
  hardware: [kubevirt],
  diskMove: [kubevirt, moveObstacle],
  hostResources: [kubevirt],
  migration: [kubevirt],
  snapshots: [kubevirt],
  cloning: [kubevirt],
  images: [cdi],
  containers: [],
  containerLogs: [],
  containerFiles: [],
  // No cluster has it.
  containerTransfer: [],
  consoles: [],
  events: [],
  metrics: [],
  guestInfo: [kubevirt],
  // No cluster has it.
  guestControl: [],
  guestPorts: [kubevirt],
  diskExport: [kubevirt],
  diskSource: [kubevirt],
  diskIngest: [kubevirt],
  liveDisks: [kubevirt],
  backups: [kubevirt, noBackupApi],
  backupSource: [kubevirt, snapshotsForBackups, exportsForBackups],
  bootProof: [kubevirt, cdiForProofs],
  // No cluster has it.
  diskFiles: [kubevirt],
  diskRestore: [kubevirt],
  instantRestore: [kubevirt],
  cluster: [],
  nodeScheduling: [],
  diagnostics: [],
  twin: [kubevirt],
};

/** Why a cluster can't have this ability. @param facts undefined while they are unknown: then a request finds out */
export function obstacleTo(name: AbilityName, facts: ClusterFacts | undefined, context: string): string | undefined {
  if (!facts) return undefined;
  for (const need of ABILITY_NEEDS[name]) {
    const obstacle = need(facts, context);
    if (obstacle !== undefined) return obstacle;
  }
  return undefined;
}

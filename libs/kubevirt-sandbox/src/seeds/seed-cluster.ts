import type { KubeObject } from '@headgate/kube-sandbox';
import { FeatureGates } from '../feature-gates.js';
import type { PermittedHostDevices } from '../types/kubevirt-kinds.js';
import type { SimulationContext } from '../simulation-context.js';
import { commonInstancetypes, commonPreferences } from './instancetypes.js';
import { handlerDaemonSet, seedComponents, webhookConfigurations, withHandlers } from './seed-components.js';
import { buildNode, type NodeSeed } from './seed-node.js';

type Seed = KubeObject & Record<string, unknown>;

/** The parts of the cluster's configuration that a test may change. */
export interface ClusterSeed {
  nodes?: NodeSeed[];
  /** Feature gates of the KubeVirt resource; default: all that the clients of a VM manager need. */
  featureGates?: readonly string[];
  /** Default none: hot-plugged CPUs, memory and NICs wait for a migration that a client starts. */
  workloadUpdateMethods?: readonly string[];
  vmRolloutStrategy?: 'Stage' | 'LiveUpdate';
  permittedHostDevices?: PermittedHostDevices;
  /**
   * Default true: a CSI class with shared volumes, expansion and snapshots, and two that wait for their first consumer.
   */
  storage?: boolean;
  /** Default {@link SHARED_CLASS}. */
  defaultStorageClass?: string;
}

export const DEFAULT_NODES: NodeSeed[] = [
  { name: 'node-a', roles: ['control-plane', 'worker'], address: '192.0.2.11' },
  { name: 'node-b', address: '192.0.2.12' },
  { name: 'node-c', cpuVendor: 'AMD', address: '192.0.2.13' },
];

export const SHARED_CLASS = 'ceph-block';
/** Waits for its first consumer, and has no CSI driver. */
export const LOCAL_CLASS = 'local-path';
/** Waits for its first consumer, and has a CSI driver. */
export const LOCAL_CSI_CLASS = 'topolvm';

const CEPH = 'rook-ceph.rbd.csi.ceph.com';
const TOPOLVM = 'topolvm.io';

/** All objects of a cluster before its first VM. */
export function seedCluster(context: SimulationContext, seed: ClusterSeed = {}): void {
  const now = context.clock.timestamp();
  const nodes = (seed.nodes ?? DEFAULT_NODES).map((node) => buildNode(node, now));
  const objects: KubeObject[] = [
    ...['default', 'kube-system', 'kubevirt', 'cdi', 'tailvm'].map(namespace),
    ...withHandlers(context, nodes, now),
    ...seedComponents(context, nodes, now),
    ...(context.without.has('kubevirt') ? [] : [handlerDaemonSet(context, nodes.length, now)]),
    ...webhookConfigurations(context),
    ...(seed.storage === false ? [] : storageClasses(seed.defaultStorageClass ?? SHARED_CLASS)),
    ...(seed.storage === false ? [] : nodes.map(({ metadata: { name } }) => localCapacity(name))),
    ...(seed.storage === false || context.without.has('snapshots') ? [] : [snapshotClass()]),
    ...(context.without.has('kubevirt') ? [] : [kubevirtResource(context, seed, now)]),
    ...(context.without.has('kubevirt') || !context.release.since('1.4')
      ? []
      : [...commonInstancetypes(), ...commonPreferences()]),
    ...(context.without.has('cdi') ? [] : cdiResources(context, now)),
    ...(context.without.has('multus') ? [] : [networkAttachment('br1', 'tailvm'), networkAttachment('br1', 'default')]),
  ];
  context.store.load(objects.filter((object) => !exists(context, object)));
}

/** The configuration of KubeVirt and CDI with its defaults. */
export const clusterSettings = (context: SimulationContext): KubeObject[] => {
  const now = context.clock.timestamp();
  return [
    ...(context.without.has('kubevirt') ? [] : [kubevirtResource(context, {}, now)]),
    ...(context.without.has('cdi') ? [] : cdiResources(context, now)),
  ];
};

const exists = (context: SimulationContext, object: KubeObject): boolean =>
  context.store.get(context.resourceOf(object), object.metadata) !== undefined;

export const namespace = (name: string): Seed => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
});

const storageClasses = (defaultClass: string): Seed[] => [
  ...[CEPH, TOPOLVM].map((name) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name },
    spec: {
      attachRequired: name === CEPH,
      podInfoOnMount: name !== CEPH,
      storageCapacity: name !== CEPH,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      volumeLifecycleModes: ['Persistent'],
    },
  })),
  ...[
    { name: SHARED_CLASS, provisioner: CEPH, volumeBindingMode: 'Immediate', allowVolumeExpansion: true },
    { name: LOCAL_CLASS, provisioner: 'rancher.io/local-path', volumeBindingMode: 'WaitForFirstConsumer' },
    {
      name: LOCAL_CSI_CLASS,
      provisioner: TOPOLVM,
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    },
  ].map(({ name, ...rest }) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name,
      ...(name === defaultClass ? { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } : {}),
    },
    reclaimPolicy: 'Delete',
    ...rest,
  })),
];

/** The free space for local volumes of a node, as its driver reports it. */
export const localCapacity = (node: string): Seed => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIStorageCapacity',
  metadata: { namespace: 'kube-system', name: `csisc-${LOCAL_CSI_CLASS}-${node}` },
  storageClassName: LOCAL_CSI_CLASS,
  nodeTopology: { matchLabels: { 'topology.topolvm.io/node': node } },
  capacity: '800Gi',
  maximumVolumeSize: '800Gi',
});

const snapshotClass = (): Seed => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotClass',
  metadata: { name: 'ceph-block-snapshots' },
  driver: CEPH,
  deletionPolicy: 'Delete',
});

function kubevirtResource({ release }: SimulationContext, seed: ClusterSeed, now: string): Seed {
  const condition = (type: string, status: string, reason: string) => ({
    type,
    status,
    reason,
    message: reason === 'AllComponentsReady' ? 'All components are ready.' : 'All resources were created.',
    lastProbeTime: now,
    lastTransitionTime: now,
  });
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt', namespace: 'kubevirt', finalizers: ['foregroundDeleteKubeVirt'] },
    spec: {
      configuration: {
        developerConfiguration: { featureGates: [...(seed.featureGates ?? FeatureGates.defaultsOf(release))] },
        ...(seed.vmRolloutStrategy ? { vmRolloutStrategy: seed.vmRolloutStrategy } : {}),
        ...(seed.permittedHostDevices ? { permittedHostDevices: seed.permittedHostDevices } : {}),
      },
      imagePullPolicy: 'IfNotPresent',
      workloadUpdateStrategy: seed.workloadUpdateMethods
        ? { workloadUpdateMethods: [...seed.workloadUpdateMethods] }
        : {},
    },
    status: {
      phase: 'Deployed',
      observedKubeVirtVersion: release.tag,
      targetKubeVirtVersion: release.tag,
      operatorVersion: release.tag,
      defaultArchitecture: 'amd64',
      outdatedVirtualMachineInstanceWorkloads: 0,
      conditions: [
        condition('Created', 'True', 'AllResourcesCreated'),
        condition('Available', 'True', 'AllComponentsReady'),
        condition('Progressing', 'False', 'AllComponentsReady'),
        condition('Degraded', 'False', 'AllComponentsReady'),
      ],
    },
  };
}

const cdiResources = ({ release }: SimulationContext, now: string): Seed[] => [
  {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'CDI',
    metadata: { name: 'cdi' },
    spec: { config: { featureGates: ['HonorWaitForFirstConsumer'] }, imagePullPolicy: 'IfNotPresent' },
    status: {
      phase: 'Deployed',
      observedVersion: release.cdiTag,
      operatorVersion: release.cdiTag,
      targetVersion: release.cdiTag,
      conditions: [{ type: 'Available', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now }],
    },
  },
  {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'CDIConfig',
    metadata: { name: 'config' },
    spec: { featureGates: ['HonorWaitForFirstConsumer'] },
    status: {
      filesystemOverhead: { global: release.filesystemOverhead, storageClass: {} },
      uploadProxyURL: 'cdi-uploadproxy.cdi.svc',
    },
  },
];

const networkAttachment = (name: string, namespaceName: string): Seed => ({
  apiVersion: 'k8s.cni.cncf.io/v1',
  kind: 'NetworkAttachmentDefinition',
  metadata: { name, namespace: namespaceName },
  spec: { config: JSON.stringify({ cniVersion: '1.0.0', name, type: 'bridge', bridge: name }) },
});

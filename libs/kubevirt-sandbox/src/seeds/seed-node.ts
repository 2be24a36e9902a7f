import type { Node } from '../types/core-kinds.js';

export interface NodeSeed {
  name: string;
  /** Default Intel. */
  cpuVendor?: 'Intel' | 'AMD';
  /** Default amd64. */
  architecture?: 'amd64' | 'arm64';
  roles?: string[];
  cpus?: number;
  /** A quantity, such as `256Gi`. */
  memory?: string;
  pods?: number;
  ready?: boolean;
  /** Whether VMs may run on it: false on a node without KVM. */
  kvm?: boolean;
  /** Whether its kubelet reserves CPUs for single pods. Default false. */
  cpuManager?: boolean;
  /**
   * Further resources, such as `hugepages-2Mi: 4Gi` or a kind of device. A node without hugepages reports none of
   * either size.
   */
  resources?: Record<string, string>;
  labels?: Record<string, string>;
  address?: string;
}

/** A node with the labels and resources that KubeVirt adds. */
export function buildNode(seed: NodeSeed, now: string): Node {
  const { name, cpus = 32, memory = '256Gi', pods = 250, ready = true, kvm = true } = seed;
  const capacity = {
    cpu: String(cpus),
    memory,
    pods: String(pods),
    'ephemeral-storage': '200Gi',
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
    ...seed.resources,
    ...(kvm
      ? { 'devices.kubevirt.io/kvm': '1k', 'devices.kubevirt.io/tun': '1k', 'devices.kubevirt.io/vhost-net': '1k' }
      : {}),
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        ...baseLabels(seed),
        ...(kvm ? kubevirtLabels(seed.cpuVendor ?? 'Intel', seed.cpuManager) : {}),
        ...seed.labels,
      },
      annotations: { 'kubevirt.io/heartbeat': now },
    },
    spec: { podCIDR: '10.128.0.0/9' },
    status: {
      capacity,
      allocatable: capacity,
      conditions: [
        condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', now),
        condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', now),
        condition('PIDPressure', 'False', 'KubeletHasSufficientPID', now),
        ready
          ? condition('Ready', 'True', 'KubeletReady', now)
          : condition('Ready', 'Unknown', 'NodeStatusUnknown', now),
      ],
      addresses: [
        { type: 'InternalIP', address: seed.address ?? '192.0.2.10' },
        { type: 'Hostname', address: name },
      ],
      nodeInfo: {
        architecture: seed.architecture ?? 'amd64',
        containerRuntimeVersion: 'containerd://2.1.4',
        kernelVersion: '6.12.41',
        kubeletVersion: 'v1.34.1',
        operatingSystem: 'linux',
        osImage: 'Sandbox Linux (simulated node)',
      },
    },
  };
}

const condition = (type: string, status: 'True' | 'False' | 'Unknown', reason: string, now: string) => ({
  type,
  status,
  reason,
  message: '',
  lastHeartbeatTime: now,
  lastTransitionTime: now,
});

const baseLabels = ({ name, roles = ['worker'], architecture = 'amd64' }: NodeSeed): Record<string, string> => ({
  'kubernetes.io/hostname': name,
  'kubernetes.io/arch': architecture,
  'kubernetes.io/os': 'linux',
  ...Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, ''])),
});

/** Of the same QEMU release, so a guest may run on every node until a test removes a label. */
const MACHINE_TYPES = ['q35', 'pc-q35-rhel9.6.0', 'pc-q35-rhel9.4.0', 'pc-q35-rhel8.6.0'];

/** The model of each vendor's hosts comes first; the others are models that such a host can run, too. */
const MODELS = {
  Intel: ['Cascadelake-Server', 'Skylake-Server', 'Haswell'],
  AMD: ['EPYC-Milan', 'EPYC-Rome', 'EPYC'],
} as const;

/** What the model of the hosts needs beyond its name, and what a VM may require. */
const FEATURES = {
  Intel: { required: ['ssbd', 'arch-capabilities'], others: ['vmx', 'aes'] },
  AMD: { required: ['amd-ssbd', 'virt-ssbd'], others: ['svm', 'aes'] },
} as const;

/** The labels that virt-handler derives from the host and its QEMU. */
function kubevirtLabels(vendor: 'Intel' | 'AMD', cpuManager = false): Record<string, string> {
  const { required, others } = FEATURES[vendor];
  const labels = (kind: string, names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [`${kind}.node.kubevirt.io/${name}`, 'true']));
  return {
    'kubevirt.io/schedulable': 'true',
    cpumanager: String(cpuManager),
    ...labels('cpu-vendor', [vendor]),
    ...labels('host-model-cpu', [MODELS[vendor][0]]),
    ...labels('host-model-required-features', required),
    ...labels('cpu-model', MODELS[vendor]),
    ...labels('cpu-model-migration', MODELS[vendor]),
    ...labels('cpu-feature', [...required, ...others]),
    ...labels('machine-type', MACHINE_TYPES),
  };
}

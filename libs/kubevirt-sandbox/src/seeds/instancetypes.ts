import type { KubeObject } from '@headgate/kube-sandbox';

const API_VERSION = 'instancetype.kubevirt.io/v1beta1';

type Size = readonly [name: string, cpus: number, memory: string];

const SMALL: readonly Size[] = [
  ['micro', 1, '1Gi'],
  ['small', 1, '2Gi'],
  ['medium', 1, '4Gi'],
];
const LARGE: readonly Size[] = [
  ['large', 2, '8Gi'],
  ['xlarge', 4, '16Gi'],
  ['2xlarge', 8, '32Gi'],
  ['4xlarge', 16, '64Gi'],
  ['8xlarge', 32, '128Gi'],
];
const NANO: Size = ['nano', 1, '512Mi'];
const TWO_CPUS: Size = ['2xmedium', 2, '4Gi'];

/** Every size again with pages of 1 GiB. */
const withHugePages = (sizes: readonly Size[]): Size[] =>
  sizes.flatMap(([name, cpus, memory]) => [[name, cpus, memory] as const, [`${name}1gi`, cpus, memory] as const]);

/** The common series of KubeVirt: class and sizes. */
const SERIES: Record<string, readonly [string, readonly Size[]]> = {
  cx1: [
    'compute.exclusive',
    withHugePages([
      ['medium', 1, '2Gi'],
      ['large', 2, '4Gi'],
      ['xlarge', 4, '8Gi'],
      ['2xlarge', 8, '16Gi'],
      ['4xlarge', 16, '32Gi'],
      ['8xlarge', 32, '64Gi'],
    ]),
  ],
  d1: ['dedicated.vcpu', [NANO, TWO_CPUS, ...SMALL, ...LARGE]],
  m1: [
    'memory.intensive',
    withHugePages([
      ['large', 2, '16Gi'],
      ['xlarge', 4, '32Gi'],
      ['2xlarge', 8, '64Gi'],
      ['4xlarge', 16, '128Gi'],
      ['8xlarge', 32, '256Gi'],
    ]),
  ],
  n1: [
    'network',
    [
      ['medium', 4, '4Gi'],
      ['large', 4, '8Gi'],
      ['xlarge', 8, '16Gi'],
      ['2xlarge', 16, '32Gi'],
      ['4xlarge', 32, '64Gi'],
      ['8xlarge', 64, '128Gi'],
    ],
  ],
  o1: ['overcommitted', [NANO, ...SMALL, ...LARGE]],
  rt1: ['realtime', [...SMALL, ...LARGE]],
  u1: ['general.purpose', [NANO, TWO_CPUS, ...SMALL, ...LARGE]],
};

const LINUX = [
  'alpine',
  'centos.stream10',
  'centos.stream10.desktop',
  'centos.stream9',
  'centos.stream9.desktop',
  'centos.stream9.dpdk',
  'cirros',
  'debian',
  'fedora',
  'fedora.arm64',
  'fedora.s390x',
  'legacy',
  'linux',
  'linux.efi',
  'linux.virtiotransitional',
  'opensuse.leap',
  'opensuse.tumbleweed',
  'oraclelinux',
  'rhel.10',
  'rhel.10.arm64',
  'rhel.10.s390x',
  'rhel.7',
  'rhel.7.desktop',
  'rhel.8',
  'rhel.8.desktop',
  'rhel.8.dpdk',
  'rhel.9',
  'rhel.9.arm64',
  'rhel.9.desktop',
  'rhel.9.dpdk',
  'rhel.9.realtime',
  'rhel.9.s390x',
  'sles',
  'ubuntu',
];
const WINDOWS = ['10', '11', '2k12', '2k16', '2k19', '2k22', '2k25', '2k8', '7'];
const WINDOWS_WITHOUT_VIRTIO = ['2k3', 'xp'];

/** The instancetypes that KubeVirt deploys since 1.4. */
export const commonInstancetypes = (): KubeObject[] =>
  Object.entries(SERIES).flatMap(([series, [className, sizes]]) =>
    sizes.map(([size, cpus, memory]) => instancetype(series, className, size, cpus, memory)),
  );

function instancetype(
  series: string,
  className: string,
  size: string,
  guest: number,
  memory: string,
): KubeObject & { spec: object } {
  const hugepages = size.endsWith('1gi') ? { hugepages: { pageSize: '1Gi' } } : {};
  return {
    apiVersion: API_VERSION,
    kind: 'VirtualMachineClusterInstancetype',
    metadata: {
      name: `${series}.${size}`,
      labels: {
        'instancetype.kubevirt.io/class': className,
        'instancetype.kubevirt.io/cpu': String(guest),
        'instancetype.kubevirt.io/memory': memory,
        'instancetype.kubevirt.io/size': size,
        'instancetype.kubevirt.io/vendor': 'kubevirt.io',
        'instancetype.kubevirt.io/version': '1',
      },
    },
    spec: { cpu: { guest }, memory: { guest: memory, ...hugepages } },
  };
}

/** The preferences that KubeVirt deploys since 1.4. */
export const commonPreferences = (): KubeObject[] => [
  ...LINUX.map((name) =>
    preference(name, 'linux', name === 'legacy' ? 'sata' : 'virtio', name === 'legacy' ? 'e1000' : 'virtio'),
  ),
  ...[...WINDOWS, ...WINDOWS_WITHOUT_VIRTIO].map((name) => preference(`windows.${name}`, 'windows', 'sata', 'e1000e')),
  ...WINDOWS.map((name) => preference(`windows.${name}.virtio`, 'windows', 'virtio', 'virtio')),
];

function preference(
  name: string,
  os: string,
  preferredDiskBus: string,
  preferredInterfaceModel: string,
): KubeObject & { spec: object } {
  return {
    apiVersion: API_VERSION,
    kind: 'VirtualMachineClusterPreference',
    metadata: {
      name,
      labels: { 'instancetype.kubevirt.io/os-type': os, 'instancetype.kubevirt.io/vendor': 'kubevirt.io' },
    },
    spec: { annotations: { 'vm.kubevirt.io/os': os }, devices: { preferredDiskBus, preferredInterfaceModel } },
  };
}

import type { Container, VirtualMachine, VmStatus } from '@headgate/domain-contracts';
import { buildContainer, buildVm, withStatus } from '@headgate/testing';

const STATUSES: readonly VmStatus[] = [
  ...Array<VmStatus>(14).fill('Running'),
  ...Array<VmStatus>(5).fill('Stopped'),
  'Paused',
  'Starting',
  'Provisioning',
  'Migrating',
];
const ROLES = ['web', 'db', 'cache', 'build', 'ci-runner', 'mail', 'edge-proxy', 'analytics-worker'];
const TAGS = ['prod', 'staging', 'linux', 'gpu', 'backup', 'pci'];
const NAMESPACES = ['tailvm', 'shop', 'data'];
const [MIB, GIB] = [1024 ** 2, 1024 ** 3];
const CPUS = [1, 2, 4, 8, 16];
const MEMORY_BYTES = [512 * MIB, 2 * GIB, 4 * GIB, 8 * GIB, 64 * GIB];
const DISK_BYTES = [10 * GIB, 20 * GIB, 40 * GIB, 100 * GIB, 1024 * GIB];
const NODES = 12;
const HOUR_MS = 3_600_000;

const pick = <T>(values: readonly T[], index: number): T => values[index % values.length] as T;

/** The VM with this number, the same one in every run. */
export function devVm(index: number, context: string, { isOnlyOne, ...namespaces }: NamespaceRule): VirtualMachine {
  const isBroken = index % 97 === 41;
  const vm = buildVm({
    ref: {
      context,
      namespace: isOnlyOne ? namespaces.default : pick(NAMESPACES, index),
      name: `${pick(ROLES, index)}-${index}`,
    },
    uid: `dev-${index}`,
    cpu: pick(CPUS, index),
    memoryBytes: pick(MEMORY_BYTES, index),
    diskBytes: pick(DISK_BYTES, index),
    tags: TAGS.filter((_tag, offset) => (index + offset) % (offset + 3) === 0).sort(),
    isTemplate: index % 50 === 17,
    liveMigratable: index % 3 !== 0,
    protected: index % 29 === 5,
    restartRequired: index % 31 === 4,
    ...(isBroken ? { reason: '0/12 nodes are available: 12 Insufficient memory.' } : {}),
    createdAt: new Date(Date.UTC(2026, 0, 1) + index * HOUR_MS).toISOString(),
  });
  const shown = withStatus(vm, isBroken ? 'ErrorUnschedulable' : pick(STATUSES, index * 7));
  if (shown.node === undefined) return shown;
  return {
    ...shown,
    agentConnected: true,
    node: `node-${(index % NODES) + 1}`,
    ip: `10.${index % 4}.${Math.floor(index / 250) % 250}.${(index % 250) + 2}`,
  };
}

interface NamespaceRule {
  readonly default: string;
  readonly isOnlyOne: boolean;
}

export const devContainer = (index: number, context: string): Container => {
  const isStopped = index % 3 === 0;
  return buildContainer({
    ref: { context, namespace: 'tailvm', name: `shell-${index}` },
    uid: `dev-shell-${index}`,
    image: 'registry.example.org/tools/debian:12',
    phase: isStopped ? 'Stopped' : index % 5 === 4 ? 'Pending' : 'Running',
    ready: !isStopped,
    node: isStopped ? undefined : `node-${index}`,
    privileged: index % 2 === 0,
    createdAt: new Date(Date.UTC(2026, 1, index)).toISOString(),
  });
};

import {
  allPortsContract,
  diskMoveContract,
  importedImagesContract,
  instanceInventoryContract,
  instancePowerContract,
  instanceProvisioningContract,
} from '@headgate/testing';
import { cluster, consoles, images, TIMEOUT_MS, UNAVAILABLE } from './testing/contract-options.contract.js';
import { SandboxHarness } from './testing/sandbox-harness.contract.js';

const MOVE_GATES = [
  'Snapshot',
  'VMExport',
  'ExpandDisks',
  'HotplugVolumes',
  'VMLiveUpdateFeatures',
  'VolumesUpdateStrategy',
  'VolumeMigration',
];

/**
 * The releases that differ for a client, and whether a client can choose the target node of a migration and move disks
 * with their defaults.
 */
const RELEASES = [
  ['1.3', false, false],
  ['1.5', false, false],
  ['1.6.5', true, true],
  ['1.7', true, true],
  ['1.8', true, true],
  ['1.9', true, true],
] as const;

for (const [kubevirtVersion, canChooseNode, hasDiskMove] of RELEASES) {
  allPortsContract(
    `kube over the sandbox with KubeVirt ${kubevirtVersion}`,
    () => SandboxHarness.open({ simulation: { kubevirtVersion, cluster } }),
    {
      timeoutMs: TIMEOUT_MS,
      consoles,
      migration: { canChooseNode },
      hardware: { hotplugsNics: kubevirtVersion !== '1.3' },
      unavailable: hasDiskMove ? UNAVAILABLE : [...UNAVAILABLE, 'diskMove'],
      backupSource: { hasCheckpoints: false },
      diskExport: { hasQcow2: false },
      // A cluster has no VM that can't be started, and does not report its free space.
      diskIngest: { reservesName: false, isUpdatable: false, knowsSpace: false },
      images,
    },
  );
}

/** With a CSI driver; with one and for the first consumer; for the first consumer without a CSI driver. */
for (const defaultStorageClass of ['ceph-block', 'topolvm', 'local-path']) {
  const adapter = `kube over the sandbox with disks of the class ${defaultStorageClass}`;
  const source = { kind: 'import', url: 'https://images.example/fedora.qcow2' } as const;
  const open = () => SandboxHarness.open({ simulation: { cluster: { ...cluster, defaultStorageClass } }, source });
  instanceProvisioningContract(adapter, open, { timeoutMs: TIMEOUT_MS });
  instancePowerContract(adapter, open, { timeoutMs: TIMEOUT_MS });
  instanceInventoryContract(adapter, open, { timeoutMs: TIMEOUT_MS });
  importedImagesContract(adapter, open, { timeoutMs: TIMEOUT_MS, ...images });
}

importedImagesContract('kube over the sandbox with uploads', () => SandboxHarness.open({ uploads: true }), {
  timeoutMs: TIMEOUT_MS,
  ...images,
});

/** Earlier releases need their feature gates and the strategy; some clusters migrate automatically. */
for (const [kubevirtVersion, more] of [
  ['1.3', { featureGates: MOVE_GATES, vmRolloutStrategy: 'LiveUpdate' }],
  ['1.5', { vmRolloutStrategy: 'LiveUpdate' }],
  ['1.9', { workloadUpdateMethods: ['LiveMigrate'] }],
] as const) {
  const adapter = `kube over the sandbox with KubeVirt ${kubevirtVersion} and ${Object.keys(more).join(', ')}`;
  const open = () => SandboxHarness.open({ simulation: { kubevirtVersion, cluster: { ...cluster, ...more } } });
  diskMoveContract(adapter, open, { timeoutMs: TIMEOUT_MS });
}

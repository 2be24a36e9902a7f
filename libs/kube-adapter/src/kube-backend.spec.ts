import type { AbilityName } from '@headgate/domain-contracts';
import {
  allPortsContract,
  importedImagesContract,
  instanceInventoryContract,
  instancePowerContract,
  instanceProvisioningContract,
} from '@headgate/testing';
import { ClusterHarness } from './testing/cluster-harness.contract.js';
import { SandboxHarness } from './testing/sandbox-harness.contract.js';

/** KubeVirt keeps no earlier output of the serial line; a newline makes the guest print its prompt. */
const consoles = { greeting: /login: /, wake: '\r' };
const TIMEOUT_MS = 60_000;
const UNAVAILABLE: readonly AbilityName[] = ['guestControl', 'backups', 'diskMove'];
/** CDI copies the disk of a VM from its image. */
const images = { copies: true };
/** Two nodes with the same CPU vendor, so that every guest can migrate to the other one. */
const cluster = { nodes: [{ name: 'node-a' }, { name: 'node-b' }] };

/** The releases that differ for a client, and whether they let it choose the target node of a migration. */
const RELEASES = [
  ['1.3', false],
  ['1.5', false],
  ['1.6.5', true],
  ['1.7', true],
  ['1.8', true],
  ['1.9', true],
] as const;

for (const [kubevirtVersion, canChooseNode] of RELEASES) {
  allPortsContract(
    `kube over the sandbox with KubeVirt ${kubevirtVersion}`,
    () => SandboxHarness.open({ simulation: { kubevirtVersion, cluster } }),
    {
      timeoutMs: TIMEOUT_MS,
      consoles,
      migration: { canChooseNode },
      hardware: { hotplugsNics: kubevirtVersion !== '1.3' },
      unavailable: UNAVAILABLE,
      diskExport: { hasQcow2: false },
      // A cluster has no VM that can't be started, and does not report its free space.
      diskIngest: { reservesName: false, knowsSpace: false },
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

const { HEADGATE_TEST_KUBECONFIG: file, HEADGATE_TEST_NAMESPACE: namespace = 'headgate-test' } = process.env;
if (file) {
  allPortsContract('kube over a real cluster', () => ClusterHarness.open(file, namespace), {
    timeoutMs: 300_000,
    consoles,
    unavailable: UNAVAILABLE,
    images,
  });
}

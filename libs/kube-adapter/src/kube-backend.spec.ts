import { allPortsContract } from '@headgate/testing';
import { ClusterHarness } from './testing/cluster-harness.contract.js';
import { SandboxHarness } from './testing/sandbox-harness.contract.js';

/** KubeVirt keeps no earlier output of the serial line; a newline makes the guest print its prompt. */
const consoles = { greeting: /login: /, wake: '\r' };
const TIMEOUT_MS = 30_000;
/** Two nodes with the same CPU vendor, so that every guest can migrate to the other one. */
const cluster = { nodes: [{ name: 'node-a' }, { name: 'node-b' }] };

allPortsContract('kube over the sandbox', () => SandboxHarness.open({ simulation: { cluster } }), {
  timeoutMs: TIMEOUT_MS,
  consoles,
});

allPortsContract(
  'kube over the sandbox with KubeVirt 1.3',
  () => SandboxHarness.open({ simulation: { kubevirtVersion: '1.3', cluster } }),
  // Choosing the node needs KubeVirt 1.6.
  { timeoutMs: TIMEOUT_MS, consoles, migration: { canChooseNode: false } },
);

const { HEADGATE_TEST_KUBECONFIG: file, HEADGATE_TEST_NAMESPACE: namespace = 'headgate-test' } = process.env;
if (file) {
  allPortsContract('kube over a real cluster', () => ClusterHarness.open(file, namespace), {
    timeoutMs: 300_000,
    consoles,
  });
}

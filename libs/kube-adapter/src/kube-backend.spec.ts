import {
  consoleSourceContract,
  instanceInventoryContract,
  instancePowerContract,
  instanceProvisioningContract,
  type OpenHarness,
} from '@headgate/testing';
import { ClusterHarness } from './testing/cluster-harness.contract.js';
import { SandboxHarness } from './testing/sandbox-harness.contract.js';

/** KubeVirt keeps no earlier output of the serial line; a newline makes the guest print its prompt. */
const SERIAL = { greeting: /login: /, wake: '\r' };

function runContracts(name: string, open: OpenHarness, timeoutMs: number): void {
  instanceInventoryContract(name, open, { timeoutMs });
  instancePowerContract(name, open, { timeoutMs });
  instanceProvisioningContract(name, open, { timeoutMs });
  consoleSourceContract(name, open, { timeoutMs, ...SERIAL });
}

runContracts('kube over the sandbox', () => SandboxHarness.open(), 30_000);
runContracts(
  'kube over the sandbox with KubeVirt 1.3',
  () => SandboxHarness.open({ simulation: { kubevirtVersion: '1.3' } }),
  30_000,
);

const { HEADGATE_TEST_KUBECONFIG: file, HEADGATE_TEST_NAMESPACE: namespace = 'headgate-test' } = process.env;
if (file) runContracts('kube over a real cluster', () => ClusterHarness.open(file, namespace), 300_000);

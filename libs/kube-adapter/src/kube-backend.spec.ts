import {
  consoleSourceContract,
  instanceInventoryContract,
  instancePowerContract,
  instanceProvisioningContract,
} from '@headgate/testing';
import { SandboxHarness } from './testing/sandbox-harness.contract.js';

const open = (): Promise<SandboxHarness> => SandboxHarness.open();
const unhurried = { timeoutMs: 20_000 };

instanceInventoryContract('kube over the sandbox', open, unhurried);
instancePowerContract('kube over the sandbox', open, unhurried);
instanceProvisioningContract('kube over the sandbox', open, unhurried);
consoleSourceContract('kube over the sandbox', open, { ...unhurried, greeting: /login: /, wake: '\r' });

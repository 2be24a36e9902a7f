import {
  consoleSourceContract,
  instanceInventoryContract,
  instancePowerContract,
  instanceProvisioningContract,
} from '@headgate/testing';
import { whyLibvirtIsUnavailable } from './testing/libvirt-under-test.js';
import { openHarness } from './testing/libvirt-harness.contract.js';

const missing = await whyLibvirtIsUnavailable();
/** A guest boots in seconds, or much slower on a busy machine. */
const timeoutMs = 120_000;

if (missing === undefined) {
  instanceInventoryContract('libvirt', openHarness, { timeoutMs });
  instancePowerContract('libvirt', openHarness, { timeoutMs });
  instanceProvisioningContract('libvirt', openHarness, { timeoutMs });
  consoleSourceContract('libvirt', openHarness, { timeoutMs, greeting: /login: / });
} else {
  test.skip(`keeps the contracts of its ports: skipped, ${missing}`, () => undefined);
}

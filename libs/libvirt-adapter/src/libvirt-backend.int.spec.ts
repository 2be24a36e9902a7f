import {
  consoleSourceContract,
  instanceInventoryContract,
  instancePowerContract,
  instanceProvisioningContract,
} from '@headgate/testing';
import { whyNoLibvirt } from './testing/libvirt-under-test.js';
import { openHarness } from './testing/libvirt-harness.contract.js';

const missing = await whyNoLibvirt();
/** A guest boots in seconds; on a machine with much else to do, in many. */
const timeoutMs = 120_000;

if (missing === undefined) {
  instanceInventoryContract('libvirt', openHarness, { timeoutMs });
  instancePowerContract('libvirt', openHarness, { timeoutMs });
  instanceProvisioningContract('libvirt', openHarness, { timeoutMs });
  consoleSourceContract('libvirt', openHarness, { timeoutMs, greeting: /login: / });
} else {
  test.skip(`keeps the contracts of its ports: skipped, ${missing}`, () => undefined);
}

import { allPortsContract } from '@headgate/testing';
import { openHarness } from './testing/libvirt-harness.contract.js';
import { whyLibvirtIsUnavailable } from './testing/libvirt-under-test.js';

const missing = await whyLibvirtIsUnavailable();

if (missing === undefined) {
  allPortsContract('libvirt', openHarness, {
    // A guest boots in seconds, or much slower on a busy machine.
    timeoutMs: 120_000,
    consoles: { greeting: /login: / },
    unavailable: ['migration', 'containers', 'events'],
  });
} else {
  test.skip(`keeps the contracts of its ports: skipped, ${missing}`, () => undefined);
}

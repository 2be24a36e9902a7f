import { allPortsContract } from '@headgate/testing';
import { openHarness } from './testing/libvirt-harness.contract.js';
import { TEST_URI, whyLibvirtIsUnavailable } from './testing/libvirt-under-test.js';
import { VirshConnection } from './virsh/virsh-connection.js';

const missing = await whyLibvirtIsUnavailable();

if (missing === undefined) {
  const options = {
    // A guest boots in seconds, or much slower on a busy machine.
    timeoutMs: 120_000,
    guestControl: { account: 'headgate' },
    consoles: { greeting: /login: / },
    hardware: { memoryMib: 256 },
    unavailable: [
      'migration', //
      'containers',
    ] as const,
  };
  allPortsContract('libvirt', () => openHarness(), options);
  allPortsContract('libvirt through virsh', () => openHarness(() => new VirshConnection({ uri: TEST_URI })), options);
} else {
  test.skip(`keeps the contracts of its ports: skipped, ${missing}`, () => undefined);
}

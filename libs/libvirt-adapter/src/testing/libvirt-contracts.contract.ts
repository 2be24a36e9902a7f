import { allPortsContract } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { openHarness } from './libvirt-harness.contract.js';
import { whyLibvirtIsUnavailable } from './libvirt-under-test.js';

/** The contract suites of all ports over real libvirt, or one skipped test that gives the reason. */
export async function libvirtContracts(name: string, connection?: () => LibvirtConnection): Promise<void> {
  const missing = await whyLibvirtIsUnavailable();
  if (missing !== undefined) {
    test.skip(`${name} keeps the contracts of its ports: skipped, ${missing}`, () => undefined);
    return;
  }
  allPortsContract(name, () => openHarness(connection), {
    // A guest boots in seconds, or much slower on a busy machine.
    timeoutMs: 120_000,
    guestControl: { account: 'headgate' },
    consoles: { greeting: /login: / },
    hardware: { memoryMib: 256 },
    snapshots: { savesMemory: true },
    unavailable: ['migration', 'containers'],
  });
}

import { ABILITY_NAMES, type AbilityName } from '@headgate/domain-contracts';
import { allPortsContract } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { openHarness } from './libvirt-harness.contract.js';
import { whyLibvirtIsUnavailable } from './libvirt-under-test.js';

/** The abilities, divided into spec files of similar length that run at the same time. `disks` has all others. */
const GROUPS = {
  instances: [
    'inventory',
    'power',
    'provisioning',
    'consoles',
    'events',
    'metrics',
    'guestInfo',
    'guestControl',
    'cluster',
    'nodeScheduling',
    'diagnostics',
  ],
  changes: ['hardware', 'hostResources', 'diskMove', 'migration', 'snapshots', 'cloning'],
} as const satisfies Readonly<Record<string, readonly AbilityName[]>>;

type Group = keyof typeof GROUPS | 'disks';

function abilitiesOf(group: Group): readonly AbilityName[] {
  if (group !== 'disks') return GROUPS[group];
  const others = new Set<AbilityName>(Object.values(GROUPS).flat());
  return ABILITY_NAMES.filter((name) => !others.has(name));
}

/** The contract suites of a group of ports over real libvirt, or one skipped test that gives the reason. */
export async function libvirtContracts(
  name: string,
  group: Group,
  connection?: () => LibvirtConnection,
): Promise<void> {
  const missing = await whyLibvirtIsUnavailable();
  if (missing !== undefined) {
    test.skip(`${name} keeps the contracts of its ports (${group}): skipped, ${missing}`, () => undefined);
    return;
  }
  allPortsContract(name, () => openHarness(connection), {
    // A guest boots in seconds, or in minutes on a busy machine.
    timeoutMs: 300_000,
    guestControl: { account: 'headgate' },
    consoles: { greeting: /login: / },
    hardware: { memoryMib: 256 },
    diskSource: { isLocal: true },
    diskIngest: { isFilledLocally: true },
    snapshots: { savesMemory: true },
    unavailable: [
      'diskBuilds',
      'migration',
      'containers',
      'containerLogs',
      'containerFiles',
      'containerTransfer',
      'nodeScheduling',
      'twin',
    ],
    abilities: abilitiesOf(group),
  });
}

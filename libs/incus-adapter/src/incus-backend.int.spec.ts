import { ABILITY_NAMES, type AbilityName } from '@headgate/domain-contracts';
import { allPortsContract, describeOnIncus } from '@headgate/testing';
import { IncusHarness } from './contracts/incus-harness.contract.js';

/** All others are refused with a reason. */
const PROVIDED: readonly AbilityName[] = [
  'inventory',
  'containers',
  'containerTransfer',
  'events',
  'diagnostics',
  'metrics',
  'cluster',
];
/** Their suites have rules for VMs only: the suites of this adapter have those for containers. */
const OF_CONTAINERS: readonly AbilityName[] = ['consoles', 'hardware', 'snapshots', 'cloning'];

describeOnIncus('the contracts of the ports', (flavor) => {
  allPortsContract(flavor, () => IncusHarness.open(flavor), {
    timeoutMs: 60_000,
    consoles: { greeting: /#/ },
    containers: { hasVms: false },
    abilities: ABILITY_NAMES.filter((name) => !OF_CONTAINERS.includes(name)),
    unavailable: ABILITY_NAMES.filter((name) => !PROVIDED.includes(name)),
  });
});

import { everything, expectAllowed } from '@headgate/access';
import type { HardwareChangeDto } from '@headgate/api-contracts';
import type { Grant } from '@headgate/domain-contracts';

const OF_HOSTS: ReadonlySet<HardwareChangeDto['kind']> = new Set<HardwareChangeDto['kind']>([
  'set-placement',
  'attach-host-device',
  'detach-host-device',
]);

/** The routes of single changes need the same. @throws DomainError NOT_PERMITTED */
export function expectChangeAllowed({ kind, pvc }: HardwareChangeDto, grant: Grant): void {
  // CPUs, memory and devices of the host are taken from other VMs, or from the host itself.
  if (OF_HOSTS.has(kind)) expectAllowed(grant, everything('manage'));
  // A volume may be of another VM.
  const isAdded = kind === 'attach-volume' || kind === 'change-medium';
  if (isAdded && typeof pvc === 'string') expectAllowed(grant, everything('change'));
}

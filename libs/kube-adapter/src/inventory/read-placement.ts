import type { AttachedHostDevice, Placement } from '@headgate/domain-contracts';
import type { GuestSpec } from '../api/object-types.js';
import { bytesOf } from './guest-size.js';

/** The placement of the VM that a spec describes. */
export function readPlacement({ domain }: GuestSpec): Placement {
  const { dedicatedCpuPlacement, isolateEmulatorThread, numa } = domain?.cpu ?? {};
  return {
    dedicated: {
      isOn: dedicatedCpuPlacement === true,
      isolatesEmulator: isolateEmulatorThread === true,
      passesNuma: numa?.guestMappingPassthrough !== undefined,
    },
    pinning: null,
    hugepageBytes: bytesOf(domain?.memory?.hugepages?.pageSize) ?? null,
  };
}

export const hostDevicesOf = ({ domain }: GuestSpec): AttachedHostDevice[] =>
  [...(domain?.devices?.gpus ?? []), ...(domain?.devices?.hostDevices ?? [])].map(({ name, deviceName = '' }) => ({
    name,
    device: deviceName,
    kind: 'resource',
  }));

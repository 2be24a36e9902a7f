import { deviceNotFound, refusal, type Refusal } from '@headgate/domain-contracts';
import type { GuestVolume } from '../../api/object-types.js';
import { claimNameOf, type VmState } from '../vm-hardware.js';

export interface FoundVolume {
  /** The name of the disk, which is that of its volume. */
  readonly disk: string;
  readonly source: GuestVolume;
  readonly claim?: string;
}

export function findVolume({ ref, spec, vmi }: VmState, volume: string): FoundVolume | Refusal {
  const specs = [...(vmi?.spec ? [vmi.spec] : []), spec];
  for (const { volumes = [], domain } of specs) {
    const source = volumes.find((one) => claimNameOf(one) === volume || one.name === volume);
    const disk = domain?.devices?.disks?.find(({ name }) => name === source?.name);
    const claim = source && claimNameOf(source);
    if (source && disk) return { disk: disk.name, source, ...(claim !== undefined && { claim }) };
  }
  const present = (spec.volumes ?? []).flatMap((one) => claimNameOf(one) ?? []);
  const { message } = deviceNotFound(ref.name, `disk ${volume}`, present);
  return refusal('DEVICE_NOT_FOUND', message, 'Name one of its disks.');
}

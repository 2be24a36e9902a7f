import { isVolumeName, refusal, type Refusal } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';

/**
 * Why a card of a VM can't be on a network of libvirt.
 * @param options.field of the request, for the message
 * @param options.mustBeActive whether the card is used now, which needs an active network
 */
export async function networkRefusals(
  { networks }: Pick<LibvirtConnection, 'networks'>,
  network: string,
  { field, mustBeActive }: { readonly field: string; readonly mustBeActive: boolean },
): Promise<Refusal[]> {
  const [active, inactive] = await Promise.all([networks.list('active'), networks.list('inactive')]);
  const known = [...active, ...inactive];
  if (!isVolumeName(network) || !known.includes(network)) {
    const choice = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
    return [
      refusal('INVALID_INPUT', `${field}: libvirt has no network ${network}: ${choice}.`, 'Name one of its networks.'),
    ];
  }
  if (!mustBeActive || active.includes(network)) return [];
  return [
    refusal('WRONG_STATE', `The network ${network} is not active.`, `Start it with \`virsh net-start ${network}\`.`),
  ];
}

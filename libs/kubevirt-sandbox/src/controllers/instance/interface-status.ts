import { isTrue } from '../../types/condition.js';
import type {
  InterfaceStatus,
  NetworkInterface,
  VirtualMachineInstance,
} from '../../types/virtual-machine-instance.js';
import { macAddressFor } from '../../machines/vmi-defaults.js';

/** An address of a secondary network, which only the guest agent reports. */
function secondaryAddress(mac: string): string {
  const [, , , second, third, fourth] = mac.split(':').map((byte) => parseInt(byte, 16));
  return `192.168.${second! % 256}.${1 + ((third! * 256 + fourth!) % 253)}`;
}

/** `status.interfaces`: the current state of each NIC. */
export function interfaceStatuses(vmi: VirtualMachineInstance, podAddress: string | undefined): InterfaceStatus[] {
  const agent = isTrue(vmi.status?.conditions, 'AgentConnected');
  return (vmi.spec.domain.devices.interfaces ?? [])
    .filter(({ state }) => state !== 'absent')
    .map((nic, index) => interfaceStatus(vmi, nic, index, podAddress, agent));
}

function interfaceStatus(
  vmi: VirtualMachineInstance,
  nic: NetworkInterface,
  index: number,
  podAddress: string | undefined,
  agent: boolean,
): InterfaceStatus {
  const network = vmi.spec.networks?.find(({ name }) => name === nic.name);
  const mac = nic.macAddress ?? macAddressFor(`${vmi.metadata.uid}/${nic.name}`);
  const address = network?.multus ? (agent ? secondaryAddress(mac) : undefined) : podAddress;
  const sources = ['domain', ...(agent ? ['guest-agent'] : []), ...(network?.multus ? ['multus-status'] : [])];
  return {
    name: nic.name,
    mac,
    infoSource: sources.join(', '),
    queueCount: 1,
    linkState: nic.state === 'down' ? 'down' : 'up',
    podInterfaceName: network?.multus ? `pod${index}` : 'eth0',
    ...(agent ? { interfaceName: `enp${index + 1}s0` } : {}),
    ...(address ? { ipAddress: address, ipAddresses: [address] } : {}),
  };
}

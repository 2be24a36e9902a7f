import type { StatusCause } from '@headgate/kube-sandbox';
import type { Network, NetworkInterface, VmiSpec } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import { duplicateValue, invalidValue, requiredValue } from './cause.js';

const MODELS = ['e1000', 'e1000e', 'igb', 'ne2k_pci', 'pcnet', 'rtl8139', 'virtio'];
const MAC_ADDRESS = /^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i;
const BINDINGS = ['bridge', 'masquerade', 'sriov', 'macvtap', 'passt', 'passtBinding', 'slirp', 'binding'] as const;

/** Validates `networks` and `domain.devices.interfaces`. */
export function networkCauses(
  { networks = [], domain }: VmiSpec,
  path: string,
  context: SimulationContext,
): StatusCause[] {
  const interfaces = domain.devices.interfaces ?? [];
  const nics = `${path}.domain.devices.interfaces`;
  return [
    ...uniqueNetworks(networks, `${path}.networks`),
    ...networks.flatMap((network, index) => networkCausesOf(network, interfaces, `${path}.networks[${index}]`)),
    ...podNetworkCauses(networks, path),
    ...interfaces.flatMap((nic, index) => interfaceCauses(nic, networks, `${nics}[${index}]`)),
    ...uniqueInterfaces(interfaces, nics),
    ...(allowsPodBridges(context) ? [] : podBridgeCauses(interfaces, networks, nics)),
  ];
}

const allowsPodBridges = ({ kubevirt }: SimulationContext): boolean =>
  kubevirt?.spec.configuration?.network?.permitBridgeInterfaceOnPodNetwork !== false;

function podBridgeCauses(interfaces: NetworkInterface[], networks: Network[], path: string): StatusCause[] {
  return interfaces.flatMap(({ name, bridge }, index) =>
    bridge && networks.find((network) => network.name === name)?.pod
      ? [
          invalidValue(
            `${path}[${index}].name`,
            'Bridge on pod network configuration is not enabled under kubevirt-config',
          ),
        ]
      : [],
  );
}

function uniqueNetworks(networks: Network[], path: string): StatusCause[] {
  return networks.flatMap(({ name }, index) =>
    networks.findIndex((network) => network.name === name) < index
      ? [
          duplicateValue(
            `${path}[${index}].name`,
            `Network with name "${name}" already exists, every network must have a unique name`,
          ),
        ]
      : [],
  );
}

function uniqueInterfaces(interfaces: NetworkInterface[], path: string): StatusCause[] {
  return interfaces.flatMap(({ name }, index) =>
    interfaces.findIndex((nic) => nic.name === name) < index
      ? [duplicateValue(`${path}[${index}].name`, 'Only one interface can be connected to one specific network')]
      : [],
  );
}

function networkCausesOf(network: Network, interfaces: NetworkInterface[], path: string): StatusCause[] {
  if (network.multus && !network.multus.networkName) {
    return [requiredValue(path, 'CNI delegating plugin must have a networkName')];
  }
  if (!network.pod && !network.multus && !('resourceClaim' in network)) {
    return [requiredValue(path, 'should have a network type')];
  }
  if (interfaces.some(({ name }) => name === network.name)) return [];
  return [requiredValue(`${path}.name`, `${path}.name '${network.name}' not found.`)];
}

function podNetworkCauses(networks: Network[], path: string): StatusCause[] {
  return networks.filter(({ pod }) => pod).length > 1
    ? [
        duplicateValue(
          `${path}.interfaces`,
          `more than one interface is connected to a pod network in ${path}.interfaces`,
        ),
      ]
    : [];
}

function interfaceCauses(nic: NetworkInterface, networks: Network[], path: string): StatusCause[] {
  const network = networks.find(({ name }) => name === nic.name);
  const causes: StatusCause[] = [];
  if (!network) causes.push(invalidValue(`${path}.name`, `${path}.name '${nic.name}' not found.`));
  if (BINDINGS.filter((binding) => nic[binding] !== undefined).length !== 1) {
    const message = `logical ${nic.name} interface must have exactly one binding method or binding plugin`;
    causes.push(invalidValue(path, message));
  }
  if (nic.masquerade && network && !network.pod) {
    causes.push(invalidValue(`${path}.name`, 'Masquerade interface only implemented with pod network'));
  }
  if (nic.model && !MODELS.includes(nic.model)) {
    const message = `interface ${path}.name uses model ${nic.model} that is not supported. Supported models: [${MODELS.join(' ')}]`;
    causes.push({ reason: 'FieldValueNotSupported', message, field: `${path}.model` });
  }
  if (nic.macAddress && !MAC_ADDRESS.test(nic.macAddress)) {
    const message = `interface ${path}.name has malformed MAC address (${nic.macAddress}).`;
    causes.push(invalidValue(`${path}.macAddress`, message));
  }
  return [...causes, ...stateCauses(nic, network, path)];
}

function stateCauses(
  { name, state, bridge }: NetworkInterface,
  network: Network | undefined,
  path: string,
): StatusCause[] {
  if (!state || ['up', 'down'].includes(state)) return [];
  if (state !== 'absent') {
    return [invalidValue(`${path}.state`, `logical ${name} interface state value is unsupported: ${state}`)];
  }
  if (!bridge) {
    return [invalidValue(`${path}.state`, `"${name}" interface's state "absent" is supported only for bridge binding`)];
  }
  return network?.pod || network?.multus?.default
    ? [invalidValue(`${path}.state`, `"${name}" interface's state "absent" is not supported on default networks`)]
    : [];
}

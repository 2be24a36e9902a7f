import type { StatusCause } from '@headgate/kube-sandbox';
import type { Network, NetworkInterface, VmiSpec } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import { duplicateValue, invalidValue, requiredValue } from './cause.js';

const MODELS = ['e1000', 'e1000e', 'igb', 'ne2k_pci', 'pcnet', 'rtl8139', 'virtio'];
const MAC_ADDRESS = /^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i;
const BINDINGS = ['bridge', 'masquerade', 'sriov', 'macvtap', 'passt', 'passtBinding', 'slirp', 'binding'] as const;

/** Validates `networks` and `domain.devices.interfaces`, in the order of the webhook. */
export function networkCauses(
  { networks = [], domain }: VmiSpec,
  path: string,
  context: SimulationContext,
): StatusCause[] {
  const interfaces = domain.devices.interfaces ?? [];
  const nics = `${path}.domain.devices.interfaces`;
  return [
    ...podNetworkCauses(networks, path),
    ...networks.flatMap((network, index) => sourceCauses(network, `${path}.networks[${index}]`)),
    ...interfaces.flatMap((nic, index) => stateCauses(nic, networks, `${nics}[${index}]`)),
    ...interfaces.flatMap((nic, index) => bindingCauses(nic, networks, `${nics}[${index}]`)),
    ...(allowsPodBridges(context) ? [] : podBridgeCauses(interfaces, networks, nics)),
    ...uniqueNetworks(networks, `${path}.networks`),
    ...networks.flatMap(({ name }, index) =>
      unassigned(name, interfaces, `${path}.networks[${index}].name`, requiredValue),
    ),
    ...uniqueInterfaces(interfaces, nics),
    ...interfaces.flatMap(({ name }, index) => unassigned(name, networks, `${nics}[${index}].name`, invalidValue)),
    ...interfaces.flatMap((nic, index) => fieldCauses(nic, `${nics}[${index}]`)),
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

function sourceCauses(network: Network, path: string): StatusCause[] {
  if (network.multus && !network.multus.networkName) {
    return [requiredValue(path, 'CNI delegating plugin must have a networkName')];
  }
  if (!network.pod && !network.multus && !('resourceClaim' in network)) {
    return [requiredValue(path, 'should have a network type')];
  }
  return [];
}

/** A network needs an interface of its name, and an interface a network. */
function unassigned(
  wanted: string,
  others: readonly { name: string }[],
  field: string,
  cause: typeof invalidValue,
): StatusCause[] {
  return others.some(({ name }) => name === wanted) ? [] : [cause(field, `${field} '${wanted}' not found.`)];
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

function bindingCauses(nic: NetworkInterface, networks: Network[], path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (BINDINGS.filter((binding) => nic[binding] !== undefined).length !== 1) {
    const message = `logical ${nic.name} interface must have exactly one binding method or binding plugin`;
    causes.push(invalidValue(path, message));
  }
  // Also an interface without a network is on no pod network.
  if (nic.masquerade && !networks.find(({ name }) => name === nic.name)?.pod) {
    causes.push(invalidValue(`${path}.name`, 'Masquerade interface only implemented with pod network'));
  }
  return causes;
}

function fieldCauses(nic: NetworkInterface, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (nic.model && !MODELS.includes(nic.model)) {
    const message = `interface ${path}.name uses model ${nic.model} that is not supported.`;
    causes.push({ reason: 'FieldValueNotSupported', message, field: `${path}.model` });
  }
  if (nic.macAddress && !MAC_ADDRESS.test(nic.macAddress)) {
    const message = `interface ${path}.name has malformed MAC address (${nic.macAddress}).`;
    causes.push(invalidValue(`${path}.macAddress`, message));
  }
  return causes;
}

function stateCauses({ name, state, bridge }: NetworkInterface, networks: Network[], path: string): StatusCause[] {
  if (!state || ['up', 'down'].includes(state)) return [];
  const field = `${path}.state`;
  if (state !== 'absent') {
    return [invalidValue(field, `logical ${name} interface state value is unsupported: ${state}`)];
  }
  const network = networks.find((each) => each.name === name);
  const refused = [
    ...(bridge ? [] : ['is supported only for bridge binding']),
    ...(network?.pod || network?.multus?.default ? ['is not supported on default networks'] : []),
  ];
  return refused.map((why) => invalidValue(field, `"${name}" interface's state "absent" ${why}`));
}

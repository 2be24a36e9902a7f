import {
  deviceNotFound,
  isMacAddress,
  noChange,
  plannedChange,
  refusal,
  refusedChange,
  type AddNicChange,
  type ChangeNicChange,
  type Clock,
  type PlannedChange,
  type Refusal,
  type RemoveNicChange,
} from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import { formatXml, type XmlElement } from '../xml/xml.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { networkRefusals } from '../network/network-refusals.js';
import { removeDevice } from './device-removal.js';
import { ALIAS_PREFIX, type DomainHardware, type NicDevice } from './domain-hardware.js';
import { freePlaces } from './pcie-ports.js';

export interface NicDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly clock: Clock;
}

/** Plans the changes of a VM's network cards. */
export class NicChanges {
  constructor(private readonly deps: NicDeps) {}

  async add(domain: DomainHardware, { nic, network, mac }: AddNicChange): Promise<PlannedChange> {
    const { id, state, live, config } = domain;
    const refusals = await this.networkRefusals(network, state.isActive);
    const address = mac?.toLowerCase();
    if ([...live.nics, ...config.nics].some(({ name }) => name === nic)) {
      refusals.push(refusal('ALREADY_EXISTS', `${id.name} has a NIC named ${nic} already.`, 'Choose another name.'));
    }
    if (address !== undefined) refusals.push(...(await this.macRefusals(address)));
    if (refusals.length > 0) return refusedChange(...refusals);
    const isFull = state.isActive && freePlaces(live.description.document) === 0;
    const isLive = state.isActive && !isFull;
    const element: XmlElement = {
      '@type': 'network',
      ...(address !== undefined && { mac: { '@address': address } }),
      source: { '@network': network },
      model: { '@type': config.nics[0]?.model || 'virtio' },
      alias: { '@name': `${ALIAS_PREFIX}${nic}` },
    };
    const run = async (): Promise<void> => {
      const xml = formatXml({ interface: element });
      await this.deps.connection.domains.attachDevice(id.uuid, {
        // libvirt chooses the address once for both.
        xml,
        inLiveDomain: isLive,
        inPersistentDomain: true,
      });
    };
    const detail = `${nic} of ${id.name} on the network ${network}${isLive ? ', immediately' : ''}.`;
    const warnings = isFull ? ['The running VM has no free PCI slot: the NIC appears at its next start.'] : [];
    return plannedChange({ effect: isLive ? 'now' : 'next-start', steps: [{ name: 'add', detail }], warnings, run });
  }

  async change(domain: DomainHardware, { nic, network, isLinkUp }: ChangeNicChange): Promise<PlannedChange> {
    const found = find(domain, nic);
    if ('code' in found) return refusedChange(found);
    const { live, config, device } = found;
    const { id, state } = domain;
    const refusals = network === undefined ? [] : await this.networkRefusals(network, state.isActive);
    if (network !== undefined && device.type !== 'network' && refusals.length === 0) {
      refusals.push(
        refusal(
          'NOT_SUPPORTED',
          `${nic} is of the type ${device.type}, not on a network of libvirt.`,
          'Remove it and add another.',
        ),
      );
    }
    if (refusals.length > 0) return refusedChange(...refusals);
    const isSame = (one: NicDevice | undefined): boolean =>
      !one || ((network ?? one.network) === one.network && (isLinkUp ?? one.isLinkUp) === one.isLinkUp);
    if (isSame(live) && isSame(config)) return noChange;
    const run = async (): Promise<void> => {
      const { domains } = this.deps.connection;
      const update = (one: NicDevice, inLiveDomain: boolean): Promise<void> =>
        domains.updateDevice(id.uuid, {
          xml: formatXml({ interface: changed(one, network, isLinkUp) }),
          inLiveDomain,
          inPersistentDomain: !inLiveDomain,
        });
      if (state.isActive && live && !isSame(live)) await update(live, true);
      if (config && !isSame(config)) await update(config, false);
    };
    const what = [
      ...(network === undefined ? [] : [`to the network ${network}`]),
      ...(isLinkUp === undefined ? [] : [`with the cable ${isLinkUp ? 'plugged in' : 'unplugged'}`]),
    ];
    const detail = `${nic} of ${id.name} ${what.join(', ')}.`;
    return plannedChange({ effect: state.isActive ? 'now' : 'next-start', steps: [{ name: 'change', detail }], run });
  }

  async remove(domain: DomainHardware, { nic }: RemoveNicChange): Promise<PlannedChange> {
    const found = find(domain, nic);
    if ('code' in found) return refusedChange(found);
    const { live, config, device } = found;
    const { id, state } = domain;
    const isIn = (xml: string): boolean => describeDomain(xml).nics.some(({ mac }) => mac === device.mac);
    const label = `the NIC ${nic} of ${id.name}`;
    const xml = { live: state.isActive ? live?.xml : undefined, config: config?.xml };
    const run = (): Promise<void> => removeDevice(id.uuid, { tag: 'interface', label, ...xml, isIn }, this.deps);
    const detail = `${label}${state.isActive ? ', when the guest releases it' : ''}.`;
    return plannedChange({ effect: state.isActive ? 'now' : 'next-start', steps: [{ name: 'remove', detail }], run });
  }

  private networkRefusals(network: string, mustBeActive: boolean): Promise<Refusal[]> {
    return networkRefusals(this.deps.connection, network, { field: 'nad', mustBeActive });
  }

  /** Two cards with one address on a network cut each other off. */
  private async macRefusals(mac: string): Promise<Refusal[]> {
    if (!isMacAddress(mac)) {
      return [
        refusal('INVALID_INPUT', `mac: ${mac} is not the address of a NIC.`, 'Use one such as 52:54:00:12:34:56.'),
      ];
    }
    const { connection, finder } = this.deps;
    const user = (await connection.domains.documents(await finder.all())).find(({ xml, persistentXml = xml }) =>
      [xml, persistentXml].some((one) => one.toLowerCase().includes(`<mac address='${mac}'`)),
    );
    return user
      ? [
          refusal(
            'ALREADY_EXISTS',
            `The MAC address ${mac} belongs to a NIC of ${user.id.name}.`,
            'Choose another one.',
          ),
        ]
      : [];
  }
}

interface FoundNic {
  readonly device: NicDevice;
  readonly live?: NicDevice;
  readonly config?: NicDevice;
}

function find({ id, live, config }: DomainHardware, nic: string): FoundNic | Refusal {
  const matches = ({ name }: NicDevice): boolean => name === nic;
  const [inLive, inConfig] = [live.nics.find(matches), config.nics.find(matches)];
  const device = inLive ?? inConfig;
  if (device) return { device, ...(inLive && { live: inLive }), ...(inConfig && { config: inConfig }) };
  const present = live.nics.map(({ name }) => name);
  return refusal('DEVICE_NOT_FOUND', deviceNotFound(id.name, `NIC ${nic}`, present).message, 'Name one of its NICs.');
}

function changed({ xml }: NicDevice, network: string | undefined, isLinkUp: boolean | undefined): XmlElement {
  const { link, ...rest } = xml;
  return {
    ...rest,
    ...(network !== undefined && { source: { '@network': network } }),
    ...(isLinkUp === undefined ? link !== undefined && { link } : { link: { '@state': isLinkUp ? 'up' : 'down' } }),
  };
}

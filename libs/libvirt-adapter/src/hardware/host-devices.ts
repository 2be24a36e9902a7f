import {
  deviceNotFound,
  plannedChange,
  refusal,
  refusedChange,
  type AttachHostDeviceChange,
  type Clock,
  type DetachHostDeviceChange,
  type PlannedChange,
  type Refusal,
} from '@headgate/domain-contracts';
import { parseDomain } from '../domain-xml/domain-description.js';
import { formatXml } from '../xml/xml.js';
import { hostdevElement, isSameDevice, type DeviceAddress } from '../host-resources/device-address.js';
import { HostDevices, inUse, type CheckedDevice, type HostDevicesDeps } from '../host-resources/host-devices.js';
import { isGpu, labelOf } from '../host-resources/node-devices.js';
import { removeDevice } from './device-removal.js';
import type { DomainHardware } from './domain-hardware.js';
import { hostdevsOf, type HostdevDevice } from './hostdevs.js';
import { freePlaces } from './pcie-ports.js';

export interface HostDeviceDeps extends HostDevicesDeps {
  readonly clock: Clock;
}

/** Plans how devices of the host are passed through to VMs. */
export class HostDeviceChanges {
  constructor(private readonly deps: HostDeviceDeps) {}

  async attach(domain: DomainHardware, { device: name }: AttachHostDeviceChange): Promise<PlannedChange> {
    const { id, state, live, config } = domain;
    // Read now: a device may have been unplugged since it was listed, or given to another VM.
    const devices = await HostDevices.read(this.deps);
    const found = devices.find(name);
    if (!found) {
      return refusedChange(
        refusal('DEVICE_NOT_FOUND', `This host has no device ${name} that can be passed through.`, 'List its devices.'),
      );
    }
    const refusals = attachRefusals(domain, found, devices);
    if (refusals.length > 0) return refusedChange(...refusals);
    const isFull = state.isActive && found.device.type === 'pci' && freePlaces(live.description.document) === 0;
    const isLive = state.isActive && !isFull;
    const xml = formatXml({ hostdev: hostdevElement(lasting(found.device.address, devices)) });
    const run = (): Promise<void> =>
      this.deps.connection.domains.attachDevice(id.uuid, { xml, inLiveDomain: isLive, inPersistentDomain: true });
    const detail = `${labelOf(found.device)} (${name}) is passed through to ${id.name}${isLive ? ', immediately' : ''}.`;
    const { driver } = found.device;
    const warnings = [
      'The VM can neither be migrated nor saved with its memory while it has the device.',
      ...(driver === '' || driver === 'vfio-pci' ? [] : [`This host loses the device while the VM runs (${driver}).`]),
      ...(isGpu(found.device) && found.device.type === 'pci' ? ['A screen of this host on the card goes dark.'] : []),
      ...(isFull ? ['The running VM has no free PCI slot: the device appears at its next start.'] : []),
      ...(config.description.memoryBytes > 0 && found.device.type !== 'usb_device'
        ? ['The whole memory of the VM stays in the memory of this host while it runs.']
        : []),
    ];
    return plannedChange({ effect: isLive ? 'now' : 'next-start', steps: [{ name: 'attach', detail }], warnings, run });
  }

  async detach({ id, state, live, config }: DomainHardware, { name }: DetachHostDeviceChange): Promise<PlannedChange> {
    const [inLive, inConfig] = [live, config].map(({ description }) => hostdevsOf(description.document)) as [
      HostdevDevice[],
      HostdevDevice[],
    ];
    const device = [...inLive, ...inConfig].find((one) => one.name === name);
    if (!device) {
      const present = [...new Set([...inLive, ...inConfig].map((one) => one.name))];
      const { message } = deviceNotFound(id.name, `host device ${name}`, present);
      return refusedChange(refusal('DEVICE_NOT_FOUND', message, 'Name one of its host devices.'));
    }
    const isIt = (one: HostdevDevice): boolean => isSameDevice(one.address, device.address);
    const isIn = (xml: string): boolean => hostdevsOf(parseDomain(xml).domain).some(isIt);
    const label = `the host device ${name} of ${id.name}`;
    const xml = { live: state.isActive ? inLive.find(isIt)?.xml : undefined, config: inConfig.find(isIt)?.xml };
    const run = (): Promise<void> => removeDevice(id.uuid, { tag: 'hostdev', label, ...xml, isIn }, this.deps);
    const detail = `${label}${state.isActive ? ', when the guest releases it' : ''}.`;
    return plannedChange({ effect: state.isActive ? 'now' : 'next-start', steps: [{ name: 'detach', detail }], run });
  }
}

function attachRefusals({ id, live, config }: DomainHardware, found: CheckedDevice, devices: HostDevices): Refusal[] {
  const { device, users, refusals } = found;
  const own = [live, config].flatMap(({ description }) => hostdevsOf(description.document));
  if (own.some(({ address }) => isSameDevice(address, device.address))) {
    return [refusal('ALREADY_EXISTS', `${id.name} has ${device.name} already.`, 'Choose another device.')];
  }
  const others = users.filter(({ uuid }) => uuid !== id.uuid);
  const mates = devices.matesInUse(device, id.uuid);
  return [
    ...(others.length > 0 ? [inUse(device, others)] : []),
    ...refusals,
    ...mates.map(({ mate, user }) =>
      refusal(
        'BUSY',
        `${device.name} shares the IOMMU group ${device.iommuGroup} with ${mate}, which ${user} uses.`,
        `Detach ${mate} from ${user}, or attach both to one VM.`,
      ),
    ),
  ];
}

/**
 * The number of a USB device changes whenever it is plugged in, so it is named only where its vendor and product are
 * not enough.
 */
function lasting(address: DeviceAddress, devices: HostDevices): DeviceAddress {
  if (address.kind !== 'usb') return address;
  const { port: _port, ...any } = address;
  return devices.count(any) === 1 ? any : address;
}

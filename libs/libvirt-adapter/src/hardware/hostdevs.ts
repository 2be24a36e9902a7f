import type { AttachedHostDevice } from '@headgate/domain-contracts';
import { element, elements, type XmlElement } from '../xml/xml.js';
import { addressName, addressOfHostdev, type DeviceAddress } from '../host-resources/device-address.js';

/** A device of the host in one XML document of a domain. */
export interface HostdevDevice extends AttachedHostDevice {
  readonly address: DeviceAddress;
  readonly xml: XmlElement;
}

/** The devices that are passed through. Others, such as SCSI devices, are left to those who have added them. */
export const hostdevsOf = (domain: XmlElement): HostdevDevice[] =>
  elements(element(domain, 'devices'), 'hostdev').flatMap((xml) => {
    const address = addressOfHostdev(xml);
    if (!address) return [];
    const name = addressName(address);
    return [{ name, device: name, kind: address.kind, address, xml }];
  });

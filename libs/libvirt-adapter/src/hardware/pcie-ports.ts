import { attribute, element, elements, type XmlElement } from '../xml/xml.js';

/** Slot 0 is the host bridge. */
const PCI_SLOTS = 31;

/**
 * The free places for devices of a running domain: PCIe ports or the slots of a PCI bus; undefined where they are not
 * limited to those.
 */
export const freePlaces = (document: XmlElement): number | undefined =>
  freePciePorts(document) ?? freePciSlots(document);

/** The free PCIe ports of a running domain; undefined on a machine without PCIe, whose bus has many slots. */
export function freePciePorts(document: XmlElement): number | undefined {
  const controllers = controllersOf(document);
  if (!controllers.some((one) => attribute(one, 'model') === 'pcie-root')) return undefined;
  const ports = controllers
    .filter((one) => attribute(one, 'model') === 'pcie-root-port')
    .map((one) => Number(attribute(one, 'index')));
  const occupied = new Set(pciAddresses(document).map((address) => Number(attribute(address, 'bus'))));
  return ports.filter((port) => !occupied.has(port)).length;
}

/** The free slots of the only PCI bus; undefined on a machine without one, and where a bridge adds slots. */
function freePciSlots(document: XmlElement): number | undefined {
  const models = controllersOf(document).map((one) => attribute(one, 'model'));
  if (!models.includes('pci-root') || models.includes('pci-bridge')) return undefined;
  return PCI_SLOTS - new Set(pciAddresses(document).map((address) => Number(attribute(address, 'slot')))).size;
}

const controllersOf = (document: XmlElement): XmlElement[] => elements(element(document, 'devices'), 'controller');

function pciAddresses(document: XmlElement): XmlElement[] {
  const devices = element(document, 'devices');
  return Object.keys(devices ?? {})
    .flatMap((name) => elements(devices, name))
    .map((device) => element(device, 'address'))
    .filter((address) => address !== undefined)
    .filter((address) => attribute(address, 'type') === 'pci');
}

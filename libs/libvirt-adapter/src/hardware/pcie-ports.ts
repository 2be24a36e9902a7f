import { attribute, element, elements, type XmlElement } from '../domain-xml/xml.js';

/** The free PCIe ports of a running domain; undefined on a machine without PCIe, whose bus has many slots. */
export function freePciePorts(document: XmlElement): number | undefined {
  const devices = element(document, 'devices');
  const controllers = elements(devices, 'controller');
  if (!controllers.some((one) => attribute(one, 'model') === 'pcie-root')) return undefined;
  const ports = controllers
    .filter((one) => attribute(one, 'model') === 'pcie-root-port')
    .map((one) => Number(attribute(one, 'index')));
  const occupied = new Set(
    Object.keys(devices ?? {})
      .flatMap((name) => elements(devices, name))
      .map((device) => element(device, 'address'))
      .filter((address) => attribute(address, 'type') === 'pci')
      .map((address) => Number(attribute(address, 'bus'))),
  );
  return ports.filter((port) => !occupied.has(port)).length;
}

import type { DomainDescription } from '../domain-xml/domain-description.js';
import { attribute, element, elements, type XmlElement } from '../xml/xml.js';

const DEFAULT_CONTROLLER = '0';

/** Whether QEMU handles the requests of a disk in an I/O thread: its own one, or that of its SCSI controller. */
export function hasIoThread({ document }: Pick<DomainDescription, 'document'>, target: string): boolean {
  const devices = element(document, 'devices');
  const disk = elements(devices, 'disk').find((one) => attribute(element(one, 'target'), 'dev') === target);
  if (!disk) return false;
  if (namesThread(disk)) return true;
  if (attribute(element(disk, 'target'), 'bus') !== 'scsi') return false;
  const index = attribute(element(disk, 'address'), 'controller') ?? DEFAULT_CONTROLLER;
  return elements(devices, 'controller').some(
    (one) => attribute(one, 'type') === 'scsi' && attribute(one, 'index') === index && namesThread(one),
  );
}

/** libvirt 10 has a list of threads as well. */
function namesThread(device: XmlElement): boolean {
  const driver = element(device, 'driver');
  return driver !== undefined && ('@iothread' in driver || 'iothreads' in driver);
}

import { element, parseXml } from '../xml/xml.js';
import { hasIoThread } from './io-threads.js';

const documentOf = (devices: string) => ({
  document: element(parseXml(`<domain><devices>${devices}</devices></domain>`), 'domain') ?? {},
});
const disk = (bus: string, driver: string, address = ''): string =>
  `<disk><driver name='qemu' ${driver}</driver><target dev='sda' bus='${bus}'/>${address}</disk>`;
const controller = (index: number, driver: string): string =>
  `<controller type='scsi' index='${index}' model='virtio-scsi'>${driver}</controller>`;

describe('a disk', () => {
  test.each([
    ['virtio without one', disk('virtio', '>'), false],
    ['virtio with its own', disk('virtio', "iothread='1'>"), true],
    ['virtio with a list', disk('virtio', "><iothreads><iothread id='1'/></iothreads>"), true],
    ['SCSI whose controller has one', disk('scsi', '>') + controller(0, "<driver iothread='2'/>"), true],
    ['SCSI whose controller has none', disk('scsi', '>') + controller(0, "<driver queues='2'/>"), false],
    [
      'SCSI at the second controller, which has none',
      disk('scsi', '>', "<address type='drive' controller='1'/>") +
        controller(0, "<driver iothread='1'/>") +
        controller(1, ''),
      false,
    ],
    ['SATA next to a SCSI controller with one', disk('sata', '>') + controller(0, "<driver iothread='1'/>"), false],
    ['another one with one', disk('virtio', "iothread='1'>").replace('sda', 'vdb'), false],
  ])('has an I/O thread or not: %s', (_what, devices, expected) => {
    expect(hasIoThread(documentOf(devices), 'sda')).toBe(expected);
  });
});

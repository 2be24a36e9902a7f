import type { Accelerator } from '../host/host.js';
import { formatXml } from '../xml/xml.js';

export interface ReaderSpec {
  readonly name: string;
  readonly uuid: string;
  readonly accelerator: Accelerator;
  readonly memoryBytes: number;
  readonly kernel: string;
  readonly initrd: string;
  /** Of the server with the exports `disk0`, `disk1` and so on. */
  readonly disksSocket: string;
  readonly diskCount: number;
  /** Of the ports, in the order of their numbers. */
  readonly ports: readonly string[];
}

/** Tests of ciphers take an emulated processor a third of a second. */
const KERNEL_OPTIONS = 'quiet panic=-1 rdinit=/init cryptomgr.notests';

const diskName = (index: number): string => `vd${String.fromCharCode('a'.charCodeAt(0) + index)}`;

/**
 * The domain of a reader guest. It has what it needs to read disks, and nothing else: no network, no console, no
 * graphics, and no device of the host. The machine type `pc` boots faster than `q35`, which needs a bridge for each
 * device.
 */
export function readerXml(spec: ReaderSpec): string {
  return formatXml({
    domain: {
      '@type': spec.accelerator === 'kvm' ? 'kvm' : 'qemu',
      name: spec.name,
      uuid: spec.uuid,
      memory: { '@unit': 'b', '#text': String(spec.memoryBytes) },
      vcpu: '1',
      os: {
        type: { '@arch': 'x86_64', '@machine': 'pc', '#text': 'hvm' },
        kernel: spec.kernel,
        initrd: spec.initrd,
        cmdline: KERNEL_OPTIONS,
      },
      features: { acpi: '', apic: '' },
      cpu: spec.accelerator === 'kvm' ? { '@mode': 'host-passthrough' } : { '@mode': 'maximum' },
      clock: { '@offset': 'utc' },
      on_poweroff: 'destroy',
      on_reboot: 'destroy',
      on_crash: 'destroy',
      devices: {
        disk: Array.from({ length: spec.diskCount }, (_, index) => ({
          '@type': 'network',
          '@device': 'disk',
          driver: { '@name': 'qemu', '@type': 'raw' },
          source: {
            '@protocol': 'nbd',
            '@name': `disk${index}`,
            host: { '@transport': 'unix', '@socket': spec.disksSocket },
          },
          target: { '@dev': diskName(index), '@bus': 'virtio' },
          readonly: '',
          serial: `disk${index}`,
        })),
        controller: [
          { '@type': 'usb', '@index': '0', '@model': 'none' },
          { '@type': 'virtio-serial', '@index': '0' },
        ],
        channel: spec.ports.map((path, index) => ({
          '@type': 'unix',
          source: { '@mode': 'bind', '@path': path },
          target: { '@type': 'virtio', '@name': `headgate.files.${index}` },
        })),
        video: { model: { '@type': 'none' } },
        memballoon: { '@model': 'none' },
      },
    },
  });
}

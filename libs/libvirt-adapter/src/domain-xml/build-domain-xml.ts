import type { Accelerator } from '../provisioning/host.js';
import { INSTANCE_PREFIX, INSTANCE_XMLNS, metadataElement, type InstanceMetadata } from './instance-metadata.js';
import { formatXml, type XmlElement } from './xml.js';

export interface DiskSpec {
  readonly path: string;
  /** `qcow2`, `raw`, … */
  readonly format: string;
}

export interface DomainSpec {
  readonly name: string;
  readonly uuid: string;
  readonly cpu: number;
  readonly memoryBytes: number;
  readonly arch: string;
  readonly accelerator: Accelerator;
  readonly disk: DiskSpec;
  /** An installer's disc, booted from while the disk is blank. */
  readonly installer?: string;
  /** The disc with cloud-init's data. */
  readonly seed?: string;
  /** A virtual network of libvirt; absent: user-mode networking. */
  readonly network?: string;
  readonly serial: { readonly socket: string; readonly log: string };
  /** VNC on a unix socket, or on TCP at home where the socket is on another machine. */
  readonly vnc: 'socket' | 'loopback';
  readonly metadata: InstanceMetadata;
}

/** The description of a new machine. https://libvirt.org/formatdomain.html */
export function buildDomainXml(spec: DomainSpec): string {
  const { name, uuid, cpu, memoryBytes, arch, accelerator, metadata } = spec;
  const isX86 = arch === 'x86_64';
  return formatXml({
    domain: {
      '@type': accelerator === 'kvm' ? 'kvm' : 'qemu',
      name,
      uuid,
      metadata: {
        [`${INSTANCE_PREFIX}:instance`]: {
          [`@xmlns:${INSTANCE_PREFIX}`]: INSTANCE_XMLNS,
          ...metadataElement(metadata),
        },
      },
      memory: { '@unit': 'b', '#text': String(memoryBytes) },
      vcpu: String(cpu),
      os: {
        ...(isX86 ? {} : { '@firmware': 'efi' }),
        type: { '@arch': arch, '@machine': isX86 ? 'q35' : 'virt', '#text': 'hvm' },
      },
      features: { acpi: '', ...(isX86 ? { apic: '' } : {}) },
      // Software emulation gives the guest all it can emulate: distributions ask for more than the oldest processor.
      cpu: accelerator === 'kvm' ? { '@mode': 'host-passthrough', '@migratable': 'on' } : { '@mode': 'maximum' },
      clock: { '@offset': 'utc' },
      on_poweroff: 'destroy',
      on_reboot: 'restart',
      on_crash: 'destroy',
      devices: devices(spec),
    },
  });
}

function devices({ disk, installer, seed, network, serial, vnc }: DomainSpec): XmlElement {
  return {
    // The blank disk of an installation is not bootable, so the first boot falls through to the disc, and later ones don't.
    disk: [
      diskElement(disk),
      ...(installer === undefined ? [] : [discElement(installer)]),
      ...(seed === undefined ? [] : [seedElement(seed)]),
    ],
    interface: {
      '@type': network === undefined ? 'user' : 'network',
      ...(network !== undefined && { source: { '@network': network } }),
      model: { '@type': 'virtio' },
    },
    serial: {
      '@type': 'unix',
      source: { '@mode': 'bind', '@path': serial.socket },
      log: { '@file': serial.log, '@append': 'on' },
      target: { '@port': '0' },
    },
    console: { '@type': 'unix', target: { '@type': 'serial', '@port': '0' } },
    channel: { '@type': 'unix', target: { '@type': 'virtio', '@name': 'org.qemu.guest_agent.0' } },
    input: [
      { '@type': 'tablet', '@bus': 'usb' },
      { '@type': 'keyboard', '@bus': 'usb' },
    ],
    graphics:
      vnc === 'socket'
        ? { '@type': 'vnc', listen: { '@type': 'socket' } }
        : {
            '@type': 'vnc',
            '@port': '-1',
            '@autoport': 'yes',
            listen: { '@type': 'address', '@address': '127.0.0.1' },
          },
    // Text mode needs no driver in the guest: the smallest kernels show something.
    video: { model: { '@type': 'vga' } },
    memballoon: { '@model': 'virtio' },
    rng: { '@model': 'virtio', backend: { '@model': 'random', '#text': '/dev/urandom' } },
  };
}

const diskElement = ({ path, format }: DiskSpec): XmlElement => ({
  '@type': 'file',
  '@device': 'disk',
  driver: { '@name': 'qemu', '@type': format, '@discard': 'unmap' },
  source: { '@file': path },
  target: { '@dev': 'vda', '@bus': 'virtio' },
  boot: { '@order': '1' },
});

/** An installer expects a drive of the oldest kind. */
const discElement = (path: string): XmlElement => ({
  '@type': 'file',
  '@device': 'cdrom',
  driver: { '@name': 'qemu', '@type': 'raw' },
  source: { '@file': path },
  target: { '@dev': 'sda', '@bus': 'sata' },
  readonly: '',
  boot: { '@order': '2' },
});

/** Cloud kernels have no driver for such drives, but one for the disk that they boot from: the seed is a disk like it. */
const seedElement = (path: string): XmlElement => ({
  '@type': 'file',
  '@device': 'disk',
  driver: { '@name': 'qemu', '@type': 'raw' },
  source: { '@file': path },
  target: { '@dev': 'vdb', '@bus': 'virtio' },
  readonly: '',
});

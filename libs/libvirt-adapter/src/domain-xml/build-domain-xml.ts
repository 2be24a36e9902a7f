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
  /** Hardware acceleration or QEMU's software emulation. */
  readonly accelerator: 'kvm' | 'tcg';
  readonly disk: DiskSpec;
  /** Path of the installation ISO, which is booted while the disk is blank. */
  readonly installer?: string;
  /** Path of the ISO with the cloud-init data. */
  readonly seed?: string;
  /** A virtual network of libvirt. Without one, the VM has no network card: user-mode networking would expose the host. */
  readonly network?: string;
  readonly serial: { readonly socket: string; readonly log: string };
  /** VNC on a unix socket, or on a loopback TCP port where libvirt is on another machine. */
  readonly vnc: 'socket' | 'loopback';
  readonly metadata: InstanceMetadata;
}

/** The XML of a new domain. https://libvirt.org/formatdomain.html */
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
      // Under emulation the guest gets every CPU feature QEMU can emulate: current distributions need more than the baseline.
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
    // A blank disk is not bootable, so the first boot falls through to the installation ISO and later boots don't.
    disk: [
      diskElement(disk),
      ...(installer === undefined ? [] : [discElement(installer)]),
      ...(seed === undefined ? [] : [seedElement(seed)]),
    ],
    interface:
      network === undefined
        ? []
        : [{ '@type': 'network', source: { '@network': network }, model: { '@type': 'virtio' } }],
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
    // VGA text mode needs no guest driver, so even minimal kernels show output.
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

/** Installers support a SATA CD-ROM without extra drivers. */
const discElement = (path: string): XmlElement => ({
  '@type': 'file',
  '@device': 'cdrom',
  driver: { '@name': 'qemu', '@type': 'raw' },
  source: { '@file': path },
  target: { '@dev': 'sda', '@bus': 'sata' },
  readonly: '',
  boot: { '@order': '2' },
});

/** Cloud kernels have no SATA driver but always the driver of their boot disk, so the seed is a disk on the same bus. */
const seedElement = (path: string): XmlElement => ({
  '@type': 'file',
  '@device': 'disk',
  driver: { '@name': 'qemu', '@type': 'raw' },
  source: { '@file': path },
  target: { '@dev': 'vdb', '@bus': 'virtio' },
  readonly: '',
});

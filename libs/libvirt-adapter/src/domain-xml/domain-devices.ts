import type { DiskBus } from '@headgate/domain-contracts';
import type { DiskSpec, DomainSpec, NicSpec } from './domain-spec.js';
import type { XmlElement } from '../xml/xml.js';

/** Free PCIe ports for devices that are added to the running VM, besides those of the initial devices. */
const SPARE_PORTS = 6;
const BALLOON_STATISTICS_SECONDS = 10;
/** Enough for any guest, and too little to slow down the machine. */
const RNG_BYTES_PER_SECOND = 16_384;

export function domainDevices(spec: DomainSpec): XmlElement {
  const { network, serial, vnc, features, tpm, guest } = spec;
  const cards = spec.nics ?? (network === undefined ? [] : [{ network }]);
  const nics = cards.map((nic) => nicElement(nic, spec));
  const storage = disks(spec);
  const inputs = inputElements(spec);
  return {
    disk: storage,
    controller: controllers(spec, { hasScsi: usesScsi(spec), occupiedPorts: portsFor(storage, nics, inputs) }),
    interface: nics,
    serial: {
      '@type': 'unix',
      source: { '@mode': 'bind', '@path': serial.socket },
      ...(serial.log !== undefined && { log: { '@file': serial.log, '@append': 'on' } }),
      target: { '@port': '0' },
    },
    console: { '@type': 'unix', target: { '@type': 'serial', '@port': '0' } },
    channel: { '@type': 'unix', target: { '@type': 'virtio', '@name': 'org.qemu.guest_agent.0' } },
    input: inputs,
    ...(tpm && { tpm: tpmElement(spec) }),
    graphics:
      vnc === 'socket'
        ? { '@type': 'vnc', listen: { '@type': 'socket' } }
        : {
            '@type': 'vnc',
            '@port': '-1',
            '@autoport': 'yes',
            listen: { '@type': 'address', '@address': '127.0.0.1' },
          },
    video: { model: { '@type': videoModel(spec) } },
    ...(guest.family === 'linux' && { watchdog: { '@model': features.watchdog, '@action': 'reset' } }),
    memballoon: {
      '@model': 'virtio',
      '@autodeflate': 'on',
      '@freePageReporting': 'on',
      stats: { '@period': String(BALLOON_STATISTICS_SECONDS) },
    },
    rng: {
      '@model': 'virtio',
      rate: { '@bytes': String(RNG_BYTES_PER_SECOND), '@period': '1000' },
      backend: { '@model': 'random', '#text': '/dev/urandom' },
    },
  };
}

/** A guest without drivers for virtio gets a disk that every installer supports. */
const busOf = ({ guest }: DomainSpec): DiskBus => (guest.hasVirtioDisk ? 'virtio' : 'sata');

/** The machine type of aarch64 has no SATA, so that its discs are on SCSI. */
const usesScsi = ({ arch, disk, dataDisks = [] }: DomainSpec): boolean =>
  arch !== 'x86_64' || [disk, ...dataDisks].some(({ bus }) => bus === 'scsi');

/** A blank disk is not bootable, so the first boot falls through to the installation ISO and later boots don't. */
function disks(spec: DomainSpec): XmlElement[] {
  const { disk, dataDisks = [], installer, seed, arch } = spec;
  const bus = disk.bus ?? busOf(spec);
  // Installers for x86 support a SATA CD-ROM without extra drivers. The machine type of aarch64 has no SATA.
  const discBus: DiskBus = arch === 'x86_64' ? 'sata' : 'scsi';
  const target = targetNames();
  return [
    diskElement(disk, { bus, target: target(bus), spec, isBootDisk: true }),
    ...dataDisks.map((other) => {
      const ownBus = other.bus ?? bus;
      return diskElement(other, { bus: ownBus, target: target(ownBus), spec, isBootDisk: false });
    }),
    ...(installer === undefined
      ? []
      : [discElement(installer, { bus: discBus, target: target(discBus), format: 'qcow2', order: 2 })]),
    ...(seed === undefined ? [] : [seedElement(seed, { bus, target: target(bus) })]),
  ];
}

function targetNames(): (bus: DiskBus) => string {
  const next: Record<string, number> = {};
  return (bus) => {
    const prefix = bus === 'virtio' ? 'vd' : 'sd';
    const index = (next[prefix] = (next[prefix] ?? -1) + 1);
    return `${prefix}${String.fromCharCode('a'.charCodeAt(0) + index)}`;
  };
}

function diskElement(
  { path, format, backing }: DiskSpec,
  { bus, target, spec, isBootDisk }: { bus: DiskBus; target: string; spec: DomainSpec; isBootDisk: boolean },
): XmlElement {
  const { cache, io } = spec.diskIo;
  return {
    '@type': 'file',
    '@device': 'disk',
    driver: {
      '@name': 'qemu',
      '@type': format,
      ...(cache !== undefined && { '@cache': cache }),
      ...(io !== undefined && { '@io': io }),
      '@discard': 'unmap',
      // Zeros that the guest writes free space, as discarded blocks do.
      '@detect_zeroes': 'unmap',
      ...(bus === 'virtio' && spec.features.hasIoThreads && { '@iothread': '1' }),
    },
    source: { '@file': path },
    ...(backing && { backingStore: backingElement(backing) }),
    target: { '@dev': target, '@bus': bus },
    ...(isBootDisk && { boot: { '@order': '1' } }),
  };
}

export const backingElement = ({ socket, exportName }: NonNullable<DiskSpec['backing']>): XmlElement => ({
  '@type': 'network',
  format: { '@type': 'raw' },
  source: { '@protocol': 'nbd', '@name': exportName, host: { '@transport': 'unix', '@socket': socket } },
  // Its content is never probed.
  backingStore: '',
});

const discElement = (
  path: string,
  { bus, target, format, order }: { bus: DiskBus; target: string; format: 'qcow2' | 'raw'; order?: number },
): XmlElement => ({
  '@type': 'file',
  '@device': 'cdrom',
  driver: { '@name': 'qemu', '@type': format },
  source: { '@file': path },
  target: { '@dev': target, '@bus': bus },
  readonly: '',
  ...(order !== undefined && { boot: { '@order': String(order) } }),
});

/**
 * Cloud kernels have no SATA driver but always the driver of their boot disk, so the seed is a disk on the same bus. On
 * SATA it is a CD-ROM, whose medium can be removed while the VM runs.
 */
const seedElement = (path: string, place: { bus: DiskBus; target: string }): XmlElement =>
  place.bus === 'virtio'
    ? {
        '@type': 'file',
        '@device': 'disk',
        driver: { '@name': 'qemu', '@type': 'raw' },
        source: { '@file': path },
        target: { '@dev': place.target, '@bus': place.bus },
        readonly: '',
      }
    : discElement(path, { ...place, format: 'raw' });

/** Guests without drivers for virtio support an Intel card. */
const nicElement = ({ network, mac, model }: NicSpec, { guest }: DomainSpec): XmlElement => ({
  '@type': 'network',
  ...(mac !== undefined && { mac: { '@address': mac } }),
  source: { '@network': network },
  model: { '@type': model ?? (guest.hasVirtioNetwork ? 'virtio' : 'e1000e') },
});

/**
 * x86 machines also have a PS/2 keyboard, which every firmware and system supports; QEMU uses it until the guest has
 * loaded a driver for the virtio keyboard. A USB keyboard would receive all keys even if the guest has no driver for
 * USB.
 */
function inputElements({ arch, guest }: DomainSpec): XmlElement[] {
  const keyboard: XmlElement[] =
    arch !== 'x86_64'
      ? [{ '@type': 'keyboard', '@bus': 'usb' }]
      : guest.hasVirtioInput
        ? [{ '@type': 'keyboard', '@bus': 'virtio' }]
        : [];
  return [{ '@type': 'tablet', '@bus': 'usb' }, ...keyboard];
}

/** The PCIe ports that the initial devices occupy. */
const portsFor = (...groups: readonly XmlElement[][]): number => {
  const isOnPcie = (device: XmlElement): boolean => {
    const target = device['target'] as XmlElement | undefined;
    const bus = target?.['@bus'] ?? device['@bus'];
    return bus === 'virtio' || (bus === undefined && target === undefined);
  };
  return groups.flat().filter(isOnPcie).length + FIXED_PCIE_DEVICES;
};
/** USB, the agent's channel, the balloon, random numbers, and a bridge for the watchdog. */
const FIXED_PCIE_DEVICES = 5;

function controllers(
  { features }: DomainSpec,
  { hasScsi, occupiedPorts }: { hasScsi: boolean; occupiedPorts: number },
): XmlElement[] {
  const ports = occupiedPorts + SPARE_PORTS;
  return [
    { '@type': 'usb', '@model': 'qemu-xhci', '@ports': '15' },
    ...(hasScsi
      ? [{ '@type': 'scsi', '@model': 'virtio-scsi', ...(features.hasIoThreads && { driver: { '@iothread': '1' } }) }]
      : []),
    { '@type': 'pci', '@index': '0', '@model': 'pcie-root' },
    ...Array.from({ length: ports }, () => ({ '@type': 'pci', '@model': 'pcie-root-port' })),
  ];
}

/** QEMU's virtio card is compatible with VGA on x86, so firmware and minimal kernels show output without a driver. */
function videoModel({ arch, guest, features }: DomainSpec): string {
  if (arch !== 'x86_64') return 'virtio';
  return features.hasVirtioVideo && guest.family !== 'windows' ? 'virtio' : 'vga';
}

function tpmElement({ features: { tpmModels } }: DomainSpec): XmlElement {
  const model = tpmModels.includes('tpm-crb') ? 'tpm-crb' : (tpmModels[0] ?? 'tpm-tis');
  return { '@model': model, backend: { '@type': 'emulator', '@version': '2.0' } };
}

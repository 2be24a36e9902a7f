import { ownDomainXml, FEATURES } from '../testing/domain-xml.js';
import { ALL_HYPERV, profileOf } from '../testing/domain-variants.js';
import type { DomainSpec } from './domain-spec.js';
import { attribute, element, elements, parseXml, text, type XmlElement } from '../xml/xml.js';

const GIB = 1024 ** 3;

const build = (overrides: Partial<DomainSpec> = {}): XmlElement =>
  element(parseXml(ownDomainXml(overrides)), 'domain') as XmlElement;
const devicesOf = (domain: XmlElement): XmlElement => element(domain, 'devices') as XmlElement;
const disksOf = (overrides: Partial<DomainSpec>) =>
  elements(devicesOf(build(overrides)), 'disk').map((disk) => ({
    device: attribute(disk, 'device'),
    target: attribute(element(disk, 'target'), 'dev'),
    bus: attribute(element(disk, 'target'), 'bus'),
    driver: element(disk, 'driver'),
  }));

const windows = profileOf('win11');
const kvm = { accelerator: 'kvm', features: { ...FEATURES, hyperv: ALL_HYPERV } } as const;

describe('the firmware', () => {
  test.each<[DomainSpec['firmware'], string | undefined, string[]]>([
    ['bios', undefined, []],
    ['uefi', 'efi', ['secure-boot no', 'enrolled-keys no']],
    ['uefi-secure', 'efi', ['secure-boot yes', 'enrolled-keys yes']],
  ])('%s', (firmware, kind, features) => {
    const domain = build({ firmware });
    const os = element(domain, 'os');
    expect(attribute(os, 'firmware')).toBe(kind);
    expect(
      elements(element(os, 'firmware'), 'feature').map(
        (feature) => `${attribute(feature, 'name')} ${attribute(feature, 'enabled')}`,
      ),
    ).toEqual(features);
    const isSecure = firmware === 'uefi-secure';
    expect(attribute(element(os, 'loader'), 'secure')).toBe(isSecure ? 'yes' : undefined);
    expect(element(element(domain, 'features'), 'smm') !== undefined).toBe(isSecure);
  });

  test('keeps its variables in a file of the VM', () => {
    const nvram = '/images/headgate/web-nvram.fd';
    expect(text(element(build({ firmware: 'uefi', nvram }), 'os'), 'nvram')).toBe(nvram);
  });

  test('comes with a TPM only on request, of the best model that QEMU has', () => {
    const modelOf = (overrides: Partial<DomainSpec>) => attribute(element(devicesOf(build(overrides)), 'tpm'), 'model');
    expect(modelOf({})).toBeUndefined();
    expect(modelOf({ tpm: true })).toBe('tpm-crb');
    expect(modelOf({ tpm: true, features: { ...FEATURES, tpmModels: ['tpm-tis'] } })).toBe('tpm-tis');
  });
});

describe('the clock', () => {
  const clockOf = (overrides: Partial<DomainSpec>) => {
    const clock = element(build(overrides), 'clock');
    const timers = elements(clock, 'timer').map((timer) =>
      [attribute(timer, 'name'), attribute(timer, 'tickpolicy') ?? attribute(timer, 'present')].join(' '),
    );
    return [attribute(clock, 'offset'), ...timers];
  };

  test.each<[string, Partial<DomainSpec>, string[]]>([
    ['Linux with KVM', kvm, ['utc', 'rtc catchup', 'pit delay', 'hpet no']],
    ['Linux under emulation', {}, ['utc', 'rtc catchup', 'pit delay']],
    ['Windows with KVM', { ...kvm, guest: windows }, ['localtime', 'rtc catchup', 'pit delay', 'hpet no', 'hypervclock yes']], // prettier-ignore
    ['Windows under emulation', { guest: windows }, ['localtime', 'rtc catchup', 'pit delay']],
    ['aarch64', { arch: 'aarch64' }, ['utc']],
  ])('of %s', (_title, overrides, expected) => {
    expect(clockOf(overrides)).toEqual(expected);
  });
});

describe('the enlightenments for Windows', () => {
  const hypervOf = (overrides: Partial<DomainSpec>) => {
    const hyperv = element(element(build(overrides), 'features'), 'hyperv') ?? {};
    return Object.keys(hyperv).filter((name) => !name.startsWith('@'));
  };

  test('are those that QEMU has, and no others', () => {
    expect(hypervOf({ ...kvm, guest: windows })).toEqual([
      ...['relaxed', 'vapic', 'spinlocks', 'vpindex', 'runtime', 'synic', 'stimer', 'reset', 'frequencies'],
      ...['tlbflush', 'ipi'],
    ]);
    expect(hypervOf({ guest: windows })).toEqual([]);
    expect(hypervOf(kvm)).toEqual([]);
  });

  test('leave out one whose requirement is missing', () => {
    const features = { ...FEATURES, hyperv: ['relaxed', 'synic', 'stimer', 'ipi'] };
    expect(hypervOf({ accelerator: 'kvm', guest: windows, features })).toEqual(['relaxed']);
  });
});

describe('the disks', () => {
  const discs = { installer: '/images/installer.iso', seed: '/images/seed.iso' };

  test.each<[string, Partial<DomainSpec>, string[]]>([
    ['Linux', discs, ['disk vda virtio', 'cdrom sda sata', 'disk vdb virtio']],
    ['Windows', { ...discs, guest: windows }, ['disk sda sata', 'cdrom sdb sata', 'cdrom sdc sata']],
    ['aarch64', { ...discs, arch: 'aarch64' }, ['disk vda virtio', 'cdrom sda scsi', 'disk vdb virtio']],
  ])('of %s have buses for which the guest has a driver', (_title, overrides, expected) => {
    expect(disksOf(overrides).map(({ device, target, bus }) => `${device} ${target} ${bus}`)).toEqual(expected);
  });

  test('release the blocks that the guest discards or fills with zeros', () => {
    expect(disksOf({})[0]?.driver).toMatchObject({ '@discard': 'unmap', '@detect_zeroes': 'unmap', '@iothread': '1' });
  });

  test('use direct I/O and io_uring only where they work', () => {
    expect(disksOf({})[0]?.driver).not.toHaveProperty('@io');
    expect(disksOf({})[0]?.driver).not.toHaveProperty('@cache');
    expect(disksOf({ diskIo: { cache: 'none', io: 'io_uring' } })[0]?.driver).toMatchObject({
      '@cache': 'none',
      '@io': 'io_uring',
    });
  });

  test('use an iothread only with virtio, and only if QEMU has it', () => {
    expect(disksOf({ guest: windows })[0]?.driver).not.toHaveProperty('@iothread');
    const features = { ...FEATURES, hasIoThreads: false };
    expect(disksOf({ features })[0]?.driver).not.toHaveProperty('@iothread');
    expect(build({ features })).not.toHaveProperty('iothreads');
  });
});

describe('the room to grow', () => {
  test('has more CPUs than the guest starts with, as cores of one socket', () => {
    const domain = build({ cpu: 2, maxCpu: 8 });
    expect(domain['vcpu']).toEqual({ '@current': '2', '#text': '8' });
    expect(element(element(domain, 'cpu'), 'topology')).toMatchObject({ '@sockets': '1', '@cores': '8' });
    expect(build({ cpu: 2, maxCpu: 2 })['vcpu']).toBe('2');
  });

  test('has slots for memory', () => {
    const domain = build({ maxCpu: 4, memoryBytes: GIB, maxMemoryBytes: 4 * GIB });
    expect(element(domain, 'maxMemory')).toEqual({ '@slots': '16', '@unit': 'b', '#text': String(4 * GIB) });
    const cell = element(element(element(domain, 'cpu'), 'numa'), 'cell');
    expect(cell).toMatchObject({ '@cpus': '0-3', '@memory': String(GIB / 1024), '@unit': 'KiB' });
    expect(build()).not.toHaveProperty('maxMemory');
  });

  test('has PCIe ports for six more devices than the VM starts with', () => {
    const portsOf = (overrides: Partial<DomainSpec>) =>
      elements(devicesOf(build(overrides)), 'controller').filter((it) => attribute(it, 'model') === 'pcie-root-port')
        .length;
    expect(portsOf({ network: 'default', seed: '/images/seed.iso' }) - portsOf({})).toBe(2);
    expect(portsOf({ guest: windows, network: 'default' })).toBe(portsOf({ guest: windows }) + 1);
  });
});

describe('the other devices', () => {
  const deviceOf = (name: string, overrides: Partial<DomainSpec> = {}) =>
    element(devicesOf(build(overrides)), name) as XmlElement;

  test('report statistics of the balloon, and limit random numbers', () => {
    expect(deviceOf('memballoon')).toMatchObject({ stats: { '@period': '10' } });
    expect(deviceOf('rng')).toMatchObject({ '@model': 'virtio', rate: { '@period': '1000' } });
  });

  test('include the watchdog of the machine, for Linux', () => {
    expect(deviceOf('watchdog')).toEqual({ '@model': 'i6300esb', '@action': 'reset' });
    expect(deviceOf('watchdog', { features: { ...FEATURES, watchdog: 'itco' } })).toMatchObject({ '@model': 'itco' });
    expect(deviceOf('watchdog', { guest: windows })).toBeUndefined();
  });

  test.each<[string, Partial<DomainSpec>, string]>([
    ['Linux', {}, 'virtio'],
    ['Linux on a QEMU without virtio video', { features: { ...FEATURES, hasVirtioVideo: false } }, 'vga'],
    ['Windows', { guest: windows }, 'vga'],
    ['aarch64', { arch: 'aarch64' }, 'virtio'],
  ])('include video for %s', (_title, overrides, model) => {
    const video = elements(devicesOf(build(overrides)), 'video')[0];
    expect(attribute(element(video, 'model'), 'type')).toBe(model);
  });

  test('include no USB keyboard on x86, which would receive the keys of a guest without USB drivers', () => {
    const inputsOf = (overrides: Partial<DomainSpec>) =>
      elements(devicesOf(build(overrides)), 'input').map((it) => `${attribute(it, 'type')} ${attribute(it, 'bus')}`);
    expect(inputsOf({})).toEqual(['tablet usb', 'keyboard virtio']);
    expect(inputsOf({ guest: windows })).toEqual(['tablet usb']);
    expect(inputsOf({ arch: 'aarch64' })).toEqual(['tablet usb', 'keyboard usb']);
  });

  test('include a network card that the guest supports', () => {
    const nicOf = (guest: DomainSpec['guest']) =>
      attribute(element(elements(devicesOf(build({ guest, network: 'default' })), 'interface')[0], 'model'), 'type');
    expect(nicOf(profileOf('generic'))).toBe('virtio');
    expect(nicOf(windows)).toBe('e1000e');
  });
});

import { describeDomain } from '../domain-xml/domain-description.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { foreignDomainXml, UUID } from '../testing/domain-xml.js';
import {
  deviceRefusals,
  hypervisorRefusals,
  isSameMachine,
  networkRefusals,
  networkWarnings,
} from './migration-checks.js';
import type { MigrationHost } from './migration-host.js';

interface HostFacts {
  readonly uuid?: string;
  readonly vendor?: string;
  readonly models?: string;
  readonly maxCpus?: number;
  readonly memoryBytes?: number;
  readonly networks?: readonly string[];
  /** Whether it runs guests of the kind. */
  readonly isCapable?: boolean;
}

const GIB = 1024 ** 3;

const host = (context: string, facts: HostFacts = {}): MigrationHost => {
  const { uuid = context, vendor = 'AMD', models = "<model usable='yes'>EPYC</model>", maxCpus = 8 } = facts;
  const connection = {
    host: {
      capabilities: async () =>
        `<capabilities><host><uuid>${uuid}</uuid><cpu><arch>x86_64</arch><model>EPYC</model><vendor>${vendor}</vendor></cpu></host></capabilities>`,
      domainCapabilities: async () => {
        if (facts.isCapable === false) throw new Error('KVM is not supported');
        return `<domainCapabilities><vcpu max='${maxCpus}'/><cpu><mode name='custom' supported='yes'>${models}</mode></cpu></domainCapabilities>`;
      },
      node: async () => ({ memoryBytes: facts.memoryBytes ?? 64 * GIB, cpus: 8 }),
    },
    networks: { list: async () => facts.networks ?? [] },
  } as unknown as LibvirtConnection;
  return { context, connection } as unknown as MigrationHost;
};

const guest = (devices = '', cpu = '') =>
  describeDomain(
    foreignDomainXml({ name: 'web', uuid: UUID, disks: devices })
      .replace('<devices>', `${cpu}<devices>`)
      .replace("type='qemu'", "type='kvm'"),
  );

describe('the checks before a migration', () => {
  test.each([
    ['a PCI device', "<hostdev mode='subsystem' type='pci'/>", /a device of this machine/],
    ['a USB device', "<hostdev mode='subsystem' type='usb'/>", /a device of this machine/],
    ['a virtual function of a network card', "<interface type='hostdev'/>", /a network card of this machine/],
    ['a shared folder', "<filesystem type='mount'/>", /a folder of this machine/],
    ['the TPM of the machine', "<tpm model='tpm-tis'><backend type='passthrough'/></tpm>", /the TPM of this machine/],
    ['a LUN', "<disk type='block' device='lun'><target dev='sda'/></disk>", /a SCSI device of this machine/],
  ])('refuse %s', (_device, xml, reason) => {
    const refusals = deviceRefusals(guest(xml));
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toMatchObject({ code: 'WRONG_STATE', reason: expect.stringMatching(reason) });
  });

  test('accept an emulated TPM and usual devices', () => {
    expect(deviceRefusals(guest("<tpm model='tpm-tis'><backend type='emulator' version='2.0'/></tpm>"))).toEqual([]);
  });

  test('refuse a network that is not active there, and mention a bridge', async () => {
    const nics =
      "<interface type='network'><source network='lan'/></interface><interface type='bridge'><source bridge='br0'/></interface>";
    const [missing] = await networkRefusals(guest(nics), host('beta', { networks: ['default'] }));
    expect(missing).toMatchObject({
      code: 'WRONG_STATE',
      reason: expect.stringMatching(/network lan.*not active on beta/),
    });
    expect(await networkRefusals(guest(nics), host('beta', { networks: ['lan'] }))).toEqual([]);
    expect(networkWarnings(guest(nics), host('beta'))).toEqual(['beta needs the interface br0 for a card of the VM.']);
  });

  const MODEL = "<cpu mode='custom' match='exact'><model fallback='forbid'>EPYC</model></cpu>";
  test.each<[string, string, HostFacts, RegExp]>([
    ['a host without its kind of machine', '', { isCapable: false }, /beta can't run web/],
    [
      'a CPU model that the host does not have',
      MODEL,
      { models: "<model usable='yes'>Haswell</model>" },
      /CPU model EPYC/,
    ],
    [
      'a CPU model that the host can not provide',
      MODEL,
      { models: "<model usable='no'>EPYC</model>" },
      /CPU model EPYC/,
    ],
    ['the CPU of another vendor', "<cpu mode='host-passthrough'/>", { vendor: 'Intel' }, /uses the CPU of its host/],
    ['a host with less memory', '', { memoryBytes: 1024 ** 2 }, /of memory/],
    ['a host for fewer CPUs', '', { maxCpus: 0 }, /up to 0 CPUs/],
  ])('refuse %s', async (_what, cpu, facts, reason) => {
    const refusals = await hypervisorRefusals(guest('', cpu), host('alpha'), host('beta', facts));
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toMatchObject({ code: 'WRONG_STATE', reason: expect.stringMatching(reason) });
  });

  test.each([MODEL, "<cpu mode='host-passthrough'/>", ''])('accept a host that fits: %s', async (cpu) => {
    expect(await hypervisorRefusals(guest('', cpu), host('alpha'), host('beta'))).toEqual([]);
  });

  test('recognize the machine behind another context', async () => {
    expect(await isSameMachine(host('alpha'), host('alias', { uuid: 'alpha' }))).toBe(true);
    expect(await isSameMachine(host('alpha'), host('beta'))).toBe(false);
  });
});

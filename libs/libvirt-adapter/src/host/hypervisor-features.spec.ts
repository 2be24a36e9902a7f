import { parseHypervisorFeatures } from './hypervisor-features.js';

const enumOf = (name: string, ...values: string[]): string =>
  `<enum name='${name}'>${values.map((value) => `<value>${value}</value>`).join('')}</enum>`;

const capabilities = (
  os = `<os supported='yes'>${enumOf('firmware', 'efi')}<loader supported='yes'>${enumOf('secure', 'yes', 'no')}</loader></os>`,
  tpm = `<tpm supported='yes'>${enumOf('model', 'tpm-tis', 'tpm-crb')}${enumOf('backendModel', 'passthrough', 'emulator')}${enumOf('backendVersion', '1.2', '2.0')}</tpm>`,
): string => `<domainCapabilities>
  <vcpu max='288'/><iothreads supported='yes'/>${os}
  <devices><video supported='yes'>${enumOf('modelType', 'vga', 'virtio')}</video>${tpm}</devices>
  <features><hyperv supported='yes'>${enumOf('features', 'spinlocks', 'vendor_id')}</hyperv></features>
</domainCapabilities>`;

const parse = (xml: string, version = '9.0.0', arch = 'x86_64') =>
  parseHypervisorFeatures(xml, { version: `libvirt ${version}, QEMU 7.2.22`, arch });

describe('parseHypervisorFeatures', () => {
  test('reads what libvirt and QEMU support', () => {
    expect(parse(capabilities())).toEqual({
      maxVcpus: 288,
      hasUefi: true,
      hasSecureBoot: true,
      tpmModels: ['tpm-tis', 'tpm-crb'],
      hasIoThreads: true,
      hasVirtioVideo: true,
      hyperv: ['spinlocks', 'vendor_id'],
      watchdog: 'i6300esb',
    });
  });

  test.each([
    ['without swtpm', `<tpm supported='yes'>${enumOf('backendModel', 'passthrough')}</tpm>`],
    [
      'with TPM 1.2 only',
      `<tpm supported='yes'>${enumOf('model', 'tpm-tis')}${enumOf('backendModel', 'emulator')}${enumOf('backendVersion', '1.2')}</tpm>`,
    ],
    ['without TPM support', `<tpm supported='no'/>`],
    ['of an old libvirt', ''],
  ])('finds no TPM 2.0 on a machine %s', (_title, tpm) => {
    expect(parse(capabilities(undefined, tpm)).tpmModels).toEqual([]);
  });

  test('finds no UEFI on a machine without firmware images', () => {
    const os = `<os supported='yes'><enum name='firmware'/><loader supported='yes'>${enumOf('secure', 'no')}</loader></os>`;
    expect(parse(capabilities(os))).toMatchObject({ hasUefi: false, hasSecureBoot: false });
  });

  test.each([
    ['9.0.0', 'x86_64', 'i6300esb'],
    ['9.1.0', 'x86_64', 'itco'],
    ['10.0.0', 'x86_64', 'itco'],
    ['10.0.0', 'aarch64', 'i6300esb'],
  ])('chooses a watchdog that libvirt %s has on %s', (version, arch, watchdog) => {
    expect(parse(capabilities(), version, arch).watchdog).toBe(watchdog);
  });

  test('expects nothing of a reply without content', () => {
    expect(parse('<domainCapabilities/>', 'unknown')).toMatchObject({
      maxVcpus: 1,
      hasUefi: false,
      hyperv: [],
      watchdog: 'i6300esb',
    });
  });
});

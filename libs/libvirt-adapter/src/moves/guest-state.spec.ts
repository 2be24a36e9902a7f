import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeDomain } from '../domain-xml/domain-description.js';
import { parseXml, element, type XmlElement } from '../xml/xml.js';
import { OsinfoDatabase } from '../guest-profiles/osinfo-database.js';
import { variablesTemplate } from '../host/firmware-descriptions.js';
import { describeVariables, readVariables, variablesFile, variablesMismatch } from './firmware-variables.js';
import { operatingSystemOf } from './operating-system.js';

const UUID = '2c749204-8322-4dfd-b324-cb2e556e0e9a';

describe('the variables of a firmware', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'hgtest-variables-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const domainWith = (nvram: string): XmlElement =>
    element(parseXml(`<domain><os firmware='efi'>${nvram}</os></domain>`), 'domain') as XmlElement;
  const file = (): string => join(folder, 'web-nvram.fd');
  const uefi = { firmware: 'uefi', isRemote: false } as const;

  test('are in the file that the domain names, in both of its forms', async () => {
    await writeFile(file(), 'boot entries');
    for (const xml of [
      `<nvram template='/usr/share/OVMF_VARS.fd'>${file()}</nvram>`,
      `<nvram type='file' format='raw'><source file='${file()}'/></nvram>`,
    ]) {
      const document = domainWith(xml);
      expect(await describeVariables(document, uefi)).toEqual({ sizeBytes: 12 });
      expect((await readVariables(variablesFile(document)!)).toString()).toBe('boot entries');
    }
  });

  test.each([
    ['a BIOS has none', '<nvram>/nowhere</nvram>', { firmware: 'bios', isRemote: false }, undefined],
    ['a firmware without a file has none', '', uefi, undefined],
    ['a VM that was never started has none', '<nvram>/nonexistent/web</nvram>', uefi, undefined],
    ['those of another machine are not read', '<nvram>/a</nvram>', { ...uefi, isRemote: true }, /another machine/],
    ['those in qcow2 are not read', "<nvram format='qcow2'>/a</nvram>", uefi, /format qcow2/],
    ['a relative path is none', '<nvram>a</nvram>', uefi, undefined],
    ['a network volume is none', "<nvram type='network'><source protocol='iscsi'/></nvram>", uefi, undefined],
  ] as const)('%s', async (_title, xml, options, problem) => {
    const found = await describeVariables(domainWith(xml), options);
    expect(found).toEqual(problem && { problem: expect.stringMatching(problem) });
  });

  test('fit only the build of the firmware that they belong to', async () => {
    await writeFile(file(), Buffer.alloc(16));
    expect(await variablesMismatch(16, file())).toBeUndefined();
    expect(await variablesMismatch(17, file())).toMatch(/different build/);
    expect(await variablesMismatch(16, join(folder, 'none'))).toMatch(/could not be read/);
    expect(await variablesMismatch(16, undefined)).toMatch(/could not be identified/);
  });

  test('have the template of the first description that matches, and that of the operator instead of another one', async () => {
    const [theirs, ours] = [join(folder, 'distribution'), join(folder, 'operator')];
    await Promise.all([mkdir(theirs), mkdir(ours)]);
    const describe = (filename: string, features: string[], more: object = {}): string =>
      JSON.stringify({
        'interface-types': ['uefi'],
        features,
        targets: [{ architecture: 'x86_64', machines: ['pc-q35-*'] }],
        mapping: { 'nvram-template': { filename, format: 'raw', ...more } },
      });
    await writeFile(join(theirs, '60-plain.json'), describe('/plain', []));
    await writeFile(join(theirs, '50-secure.json'), describe('/secure', ['secure-boot', 'enrolled-keys']));
    await writeFile(join(theirs, '40-qcow2.json'), describe('/qcow2', [], { format: 'qcow2' }));
    await writeFile(join(theirs, '30-broken.json'), 'no JSON');
    const find = (arch: string, isSecure: boolean) => variablesTemplate({ arch, isSecure }, [ours, theirs]);
    expect([await find('x86_64', false), await find('x86_64', true), await find('aarch64', false)]).toEqual([
      '/plain',
      '/secure',
      undefined,
    ]);
    await writeFile(join(ours, '60-plain.json'), describe('/other', []));
    expect(await find('x86_64', false)).toBe('/other');
  });

  test('can not be copied if their file is not readable', async () => {
    await writeFile(file(), 'a file, not a folder');
    const found = await describeVariables(domainWith(`<nvram>${file()}/variables</nvram>`), uefi);
    expect(found).toEqual({ problem: expect.stringContaining("can't read") });
  });
});

describe('the operating system of a guest', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-osinfo-'));
    await mkdir(join(folder, 'os'));
    await writeFile(
      join(folder, 'os', 'win-11.xml'),
      '<libosinfo><os id="http://microsoft.com/win/11"><short-id>win11</short-id><name>Windows</name></os></libosinfo>',
    );
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const libosinfo = (id: string): string =>
    `<libosinfo:libosinfo xmlns:libosinfo='http://libosinfo.org/xmlns/libvirt/domain/1.0'><libosinfo:os id='${id}'/></libosinfo:libosinfo>`;
  const own = (os: string): string =>
    `<h:instance xmlns:h='https://headgate.dev/xmlns/instance/1' owner='${UUID}' os='${os}'/>`;
  const HYPERV = "<features><hyperv mode='custom'/></features>";

  test.each([
    ['as the service recorded it', own('debian12') + libosinfo('http://microsoft.com/win/11'), HYPERV, 'debian12'],
    ['as virt-manager recorded it', libosinfo('http://microsoft.com/win/11'), '', 'win11'],
    ['by its enlightenments', libosinfo('http://example.org/unknown'), HYPERV, 'windows'],
    ['not at all', '<x xmlns="urn:x"/>', '', undefined],
  ])('is known %s', async (_title, metadata, features, expected) => {
    const description = describeDomain(
      `<domain><name>web</name><uuid>${UUID}</uuid><metadata>${metadata}</metadata>${features}</domain>`,
    );
    expect(await operatingSystemOf(description, new OsinfoDatabase([folder]))).toBe(expected);
  });

  test('has a profile even if its version is unknown', async () => {
    expect(await new OsinfoDatabase([folder]).find('windows')).toMatchObject({ family: 'windows' });
  });
});

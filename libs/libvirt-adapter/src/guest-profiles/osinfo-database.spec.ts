import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OsinfoDatabase } from './osinfo-database.js';

const VIRTIO = '<device id="http://pcisig.com/pci/1af4/1042"/><device id="http://pcisig.com/pci/1af4/1041"/>';

describe('OsinfoDatabase', () => {
  let folder: string;

  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'hgtest-osinfo-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const add = async (file: string, content: string): Promise<void> => {
    const path = join(folder, 'os', file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `<libosinfo version="0.0.1">${content}</libosinfo>`);
  };
  const find = (id: string) => new OsinfoDatabase([join(folder, 'none'), folder]).find(id);

  test('combines the devices of an entry and of those from which it is derived', async () => {
    await add(
      'a.org/a-2.xml',
      '<os id="http://a.org/2"><short-id>a2</short-id><name>A 2</name><name xml:lang="de">Das A</name><derives-from id="http://a.org/1"/></os>',
    );
    await add(
      'a.org/a-1.xml',
      `<os id="http://a.org/1"><short-id>a1</short-id><name>A 1</name><family>linux</family><devices>${VIRTIO}</devices></os>`,
    );
    expect(await find('a2')).toMatchObject({
      name: 'A 2',
      family: 'linux',
      hasVirtioDisk: true,
      hasVirtioNetwork: true,
      hasVirtioInput: false,
      needsUefi: false,
    });
  });

  test('respects an entry that drops the support of its ancestor for a device', async () => {
    await add(
      'a.org/a-2.xml',
      '<os id="http://a.org/2"><short-id>a2</short-id><derives-from id="http://a.org/1"/><devices><device id="http://pcisig.com/pci/1af4/1042" supported="false"/></devices></os>',
    );
    await add('a.org/a-1.xml', `<os id="http://a.org/1"><short-id>a1</short-id><devices>${VIRTIO}</devices></os>`);
    expect(await find('a2')).toMatchObject({ hasVirtioDisk: false, hasVirtioNetwork: true });
  });

  test('uses the latest known release of a system for an unknown one', async () => {
    for (const release of ['9', '11', '10'])
      await add(
        `a.org/a-${release}.xml`,
        `<os id="http://a.org/${release}"><short-id>a${release}</short-id><name>A ${release}</name><family>linux</family></os>`,
      );
    expect(await find('a12')).toMatchObject({ id: 'a12', name: 'A 11' });
    await add(
      'a.org/a-95.xml',
      '<os id="http://a.org/95"><short-id>a95</short-id><name>A 95</name><release-date>1995-08-24</release-date></os>',
    );
    await add(
      'a.org/a-7.xml',
      '<os id="http://a.org/7"><short-id>a7</short-id><name>A 7</name><release-date>2026-01-01</release-date></os>',
    );
    expect(await find('a12')).toMatchObject({ name: 'A 7' });
    expect(await find('b12')).toBeUndefined();
  });

  test('ignores entries that are circular, damaged or additions to others', async () => {
    await add('a.org/a.xml', '<os id="http://a.org/a"><short-id>a</short-id><derives-from id="http://a.org/a"/></os>');
    await add('a.org/b.xml', '<os id="http://a.org/b"><short-id>b</short-id><unclosed></os>');
    await add('a.org/c.d/c.xml', '<os id="http://a.org/c"><short-id>c</short-id></os>');
    expect(await find('a')).toMatchObject({ family: 'other', hasVirtioDisk: false });
    expect(await find('b')).toBeUndefined();
    expect(await find('c')).toBeUndefined();
    expect(await find('../../etc/passwd')).toBeUndefined();
  });

  test.each([
    ['generic', 'linux', false],
    ['win11', 'windows', true],
    ['win2k22', 'windows', false],
  ])('has a built-in profile for %s', async (id, family, needsTrustedBoot) => {
    expect(await find(id)).toMatchObject({ id, family, needsTrustedBoot });
  });
});

const hasData = existsSync('/usr/share/osinfo/os');

(hasData ? describe : describe.skip)(
  `the data of this machine${hasData ? '' : ': skipped, osinfo-db is not installed'}`,
  () => {
    const database = new OsinfoDatabase();

    test.each([
      ['debian11', 'linux', true, false],
      ['ubuntu22.04', 'linux', true, false],
      ['rhel9.0', 'linux', true, false],
      // Newer than the data of any distribution.
      ['fedora99', 'linux', true, false],
      ['freebsd13.0', 'other', true, false],
      ['win10', 'windows', false, false],
      ['win11', 'windows', false, true],
      ['win2k22', 'windows', false, false],
    ])('describes %s', async (id, family, hasVirtioDisk, needsTrustedBoot) => {
      expect(await database.find(id)).toMatchObject({
        id,
        family,
        hasVirtioDisk,
        hasVirtioNetwork: hasVirtioDisk,
        needsTrustedBoot,
      });
    });

    test('knows no system that does not exist', async () => {
      expect(await database.find('nosuchsystem1')).toBeUndefined();
    });
  },
);

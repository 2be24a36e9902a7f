import type { CatalogEntry } from '@headgate/domain-contracts';
import { ConfiguredCatalog } from './configured-catalog.js';

const own = { name: 'base', description: '', containerDisk: 'registry.example.org/base:1', defaultUser: 'me' };
const cloudImages = {
  x86_64: { url: 'https://images.example/debian.qcow2', checksums: 'https://images.example/SHA256SUMS' },
};
const debian: CatalogEntry = {
  name: 'debian-12',
  description: 'Debian',
  defaultUser: 'debian',
  containerDisk: 'quay.example/containerdisks/debian:12',
  cloudImages,
};
const arch: CatalogEntry = { ...debian, name: 'arch', containerDisk: '' };

describe('ConfiguredCatalog', () => {
  test('lists the built-in images first, then the configured ones', () => {
    const catalog = new ConfiguredCatalog({ tiny: true, catalog: [debian], images: [own] });
    expect(catalog.entries().map(({ name }) => name)).toEqual(['tiny', 'debian-12', 'base']);
    expect(catalog.find('debian-12')).toEqual(debian);
  });

  test('takes all images that a mirror can have from it', () => {
    const registry = 'registry.example.org:5000/mirror';
    const catalog = new ConfiguredCatalog({ tiny: false, catalog: [debian, arch], registry, images: [own] });
    const { cloudImages: _downloads, ...mirrored } = debian;
    expect(catalog.find('debian-12')).toEqual({
      ...mirrored,
      containerDisk: 'registry.example.org:5000/mirror/containerdisks/debian:12',
    });
    expect([catalog.find('arch'), catalog.find('base')]).toEqual([arch, own]);
  });

  test('lets a configured image replace one of the catalog', () => {
    const catalog = new ConfiguredCatalog({
      tiny: true,
      catalog: [debian],
      images: [
        { ...own, name: 'tiny' },
        { ...own, name: 'debian-12' },
      ],
    });
    expect([catalog.find('tiny').containerDisk, catalog.find('debian-12').containerDisk]).toEqual([
      'registry.example.org/base:1',
      'registry.example.org/base:1',
    ]);
    expect(catalog.entries()).toHaveLength(2);
  });

  test('lists the known names when it does not know one', () => {
    expect(() => new ConfiguredCatalog({ tiny: true, catalog: [], images: [] }).find('none')).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_CATALOG_ENTRY', message: expect.stringContaining('(tiny)') }),
    );
  });
});

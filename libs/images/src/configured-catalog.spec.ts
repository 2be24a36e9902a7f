import { ConfiguredCatalog } from './configured-catalog.js';

const own = { name: 'base', description: '', containerDisk: 'registry.example.org/base:1', defaultUser: 'me' };

describe('ConfiguredCatalog', () => {
  test('lists the built-in images first, then the configured ones', () => {
    const catalog = new ConfiguredCatalog({ tiny: true, registry: 'registry.example.org', images: [own] });
    const names = catalog.entries().map(({ name }) => name);
    expect(names[0]).toBe('tiny');
    expect(names.at(-1)).toBe('base');
    expect(catalog.find('debian-12').containerDisk).toBe('registry.example.org/containerdisks/debian:12');
  });

  test('omits the images of a registry that is not configured', () => {
    expect(new ConfiguredCatalog({ tiny: false, images: [] }).entries()).toEqual([]);
  });

  test('lets a configured image replace a built-in one', () => {
    const catalog = new ConfiguredCatalog({ tiny: true, images: [{ ...own, name: 'tiny' }] });
    expect(catalog.find('tiny').containerDisk).toBe('registry.example.org/base:1');
    expect(catalog.entries()).toHaveLength(1);
  });

  test('lists the known names when it does not know one', () => {
    expect(() => new ConfiguredCatalog({ tiny: true, images: [] }).find('none')).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_CATALOG_ENTRY', message: expect.stringContaining('(tiny)') }),
    );
  });
});

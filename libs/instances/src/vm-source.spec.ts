import { ImageCatalog, type CatalogEntry } from '@headgate/domain-contracts';
import { chooseSource } from './vm-source.js';

const entry = (overrides: Partial<CatalogEntry>): CatalogEntry => ({
  name: 'golden',
  description: '',
  containerDisk: '',
  defaultUser: '',
  ...overrides,
});

const catalogOf = (one: CatalogEntry): ImageCatalog =>
  new (class extends ImageCatalog {
    override entries = () => [one];
    override find = () => one;
  })();

describe('chooseSource', () => {
  test.each([
    [
      { containerDisk: 'registry.example.org/debian:13' },
      { kind: 'image', entry: expect.objectContaining({ name: 'golden' }) },
    ],
    [
      { download: { kind: 'url', url: 'https://example.org/a.qcow2' } },
      { kind: 'import', url: 'https://example.org/a.qcow2' },
    ],
    [
      { download: { kind: 'iso', url: 'https://example.org/a.iso' } },
      { kind: 'iso', url: 'https://example.org/a.iso' },
    ],
  ] as const)('uses the catalog entry %j', (overrides, source) => {
    expect(chooseSource({ image: 'golden' }, catalogOf(entry(overrides)))).toEqual(source);
  });
});

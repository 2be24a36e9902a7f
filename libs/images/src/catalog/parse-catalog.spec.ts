import type { DomainError } from '@headgate/domain-contracts';
import { builtInCatalog } from './built-in-catalog.js';
import { parseCatalog } from './parse-catalog.js';

const download = { url: 'https://images.example/a.qcow2', checksums: 'https://images.example/SHA256SUMS' };
const image = {
  name: 'debian-12',
  description: 'Debian 12',
  defaultUser: 'debian',
  containerDisk: 'quay.example/containerdisks/debian:12',
  downloads: { x86_64: download },
};
const catalog = (...images: unknown[]) => ({ version: 1, images });

const problemsOf = (data: unknown): readonly string[] => {
  try {
    parseCatalog(data, 'catalog.json');
    return [];
  } catch (error) {
    return ((error as DomainError).details as { problems: string[] }).problems;
  }
};

describe('the built-in catalog', () => {
  const entries = builtInCatalog();

  test('has the usual distributions', () => {
    expect(entries.map(({ name }) => name)).toEqual([
      ...['debian-13', 'debian-12', 'ubuntu-24.04', 'ubuntu-22.04', 'fedora', 'centos-stream-10', 'centos-stream-9'],
      ...['rocky-10', 'rocky-9', 'alma-10', 'alma-9', 'opensuse-leap', 'alpine-3.23', 'arch', 'freebsd-15.1'],
    ]);
  });

  test.each(entries.map((entry) => [entry.name, entry] as const))('has a verified download of %s', (_name, entry) => {
    expect([entry.description, entry.defaultUser]).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)]);
    expect(Object.keys(entry.cloudImages ?? {})).toContain('x86_64');
    for (const { url, checksums, signature = url } of Object.values(entry.cloudImages ?? {})) {
      const hosts = [url, checksums, signature].map((text) => new URL(text).host);
      expect(new Set(hosts).size).toBe(1);
      expect(checksums).not.toBe(url);
    }
  });
});

describe('parseCatalog', () => {
  test('reads entries with a container disk, with downloads and with both', () => {
    const { containerDisk, downloads, ...rest } = image;
    expect(
      parseCatalog(catalog(image, { ...rest, name: 'b', containerDisk }, { ...rest, name: 'c', downloads }), 'c'),
    ).toEqual([
      { ...rest, containerDisk, cloudImages: { x86_64: download } },
      { ...rest, name: 'b', containerDisk },
      { ...rest, name: 'c', containerDisk: '', cloudImages: { x86_64: download } },
    ]);
  });

  test.each<[string, unknown, string]>([
    ['that is not an object', [], 'the file must be an object'],
    ['of another version', { version: 2, images: [] }, 'version must be 1'],
    ['without images', { version: 1 }, 'images must be a list'],
    ['with unknown keys', { version: 1, images: [], other: 1 }, 'the file must not have "other"'],
    ['with one name twice', catalog(image, image), 'images must have different names, but two are debian-12'],
    ['with an entry that is null', catalog(null), 'images[0] must be an object'],
    ['with a name of another kind', catalog({ ...image, name: '../a' }), 'images[0].name must be a name'],
    ['with a description of two lines', catalog({ ...image, description: 'a\nb' }), 'images[0].description must be'],
    ['without a user', catalog({ ...image, defaultUser: undefined }), 'images[0].defaultUser must be a user name'],
    [
      'with a URL as the container disk',
      catalog({ ...image, containerDisk: 'https://a/b' }),
      'images[0].containerDisk must be',
    ],
    [
      'with an entry without a source',
      catalog({ ...image, containerDisk: undefined, downloads: undefined }),
      'images[0] must have containerDisk',
    ],
    ['with no architecture', catalog({ ...image, downloads: {} }), 'images[0].downloads must have x86_64'],
    ['with an unknown architecture', catalog({ ...image, downloads: { amd64: download } }), 'must not have "amd64"'],
    [
      'with a download without checksums',
      catalog({ ...image, downloads: { x86_64: { url: download.url } } }),
      'x86_64.checksums must be an https:// URL',
    ],
    [
      'with a plain-text list',
      catalog({ ...image, downloads: { x86_64: { ...download, checksums: 'http://images.example/a' } } }),
      'x86_64.checksums must be an https:// URL',
    ],
    [
      'with a plain-text image',
      catalog({ ...image, downloads: { x86_64: { ...download, url: 'http://images.example/a' } } }),
      'x86_64.url must be an https:// URL',
    ],
    [
      'with a password',
      catalog({ ...image, downloads: { x86_64: { ...download, url: 'https://ann:pw@images.example/a' } } }),
      'x86_64.url must be an https:// URL',
    ],
    [
      'with a file of this machine',
      catalog({ ...image, downloads: { x86_64: { ...download, url: 'file:///etc/passwd' } } }),
      'x86_64.url must be',
    ],
    [
      'with a bad signature URL',
      catalog({ ...image, downloads: { x86_64: { ...download, signature: 1 } } }),
      'x86_64.signature must be',
    ],
  ])('refuses a file %s', (_title, data, problem) => {
    expect(problemsOf(data).join('; ')).toContain(problem);
  });

  test('reports every problem, without passwords', () => {
    const bad = { ...image, name: '', downloads: { x86_64: { ...download, url: 'https://ann:secret@a/b' } } };
    expect(problemsOf(catalog(bad, { ...image, defaultUser: '' }))).toHaveLength(3);
    expect(problemsOf(catalog(bad)).join()).not.toContain('secret');
  });
});

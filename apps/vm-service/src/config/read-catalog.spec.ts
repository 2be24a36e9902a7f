import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from './service-config.js';
import { readCatalog } from './read-catalog.js';

describe('readCatalog', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'hgtest-catalog-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = (text: string): string => {
    const path = join(folder, 'catalog.json');
    writeFileSync(path, text);
    return path;
  };

  test('returns the built-in catalog without a file', () => {
    expect(readCatalog(undefined).map(({ name }) => name)).toContain('debian-13');
  });

  test('returns the entries of a file instead of the built-in ones', () => {
    const image = { name: 'own', description: 'Ours', defaultUser: 'me', containerDisk: 'registry.example.org/own:1' };
    expect(readCatalog(file(JSON.stringify({ version: 1, images: [image] })))).toEqual([image]);
    expect(readCatalog(file('{"version": 1, "images": []}'))).toEqual([]);
  });

  test.each([
    ['{"version": 2, "images": [{}]}', 'version must be 1; images[0].name must be'],
    ['not JSON', "can't be read"],
    ['', "can't be read"],
    ['null', 'must be an object'],
  ])('names the file and every problem of %j', (text, problem) => {
    const path = file(text);
    expect(() => readCatalog(path)).toThrow(ConfigError);
    expect(() => readCatalog(path)).toThrow(`${path}: `);
    expect(() => readCatalog(path)).toThrow(problem);
  });

  test('names a file that does not exist', () => {
    expect(() => readCatalog(join(folder, 'none.json'))).toThrow(/none\.json.*ENOENT/);
  });
});

import { TestPublisher } from '../testing/build-plugin.js';
import { parseManifest } from './manifest.js';
import { parseIndex } from './plugin-index.js';
import { compareVersions } from './plugin-version.js';

const manifest = {
  schemaVersion: 1,
  name: 'sample',
  description: 'A sample',
  version: '1.2.3',
  apiVersion: 1,
  ability: 'disk-builder',
  entry: 'main.mjs',
  permissions: ['host-devices'],
};

describe('parseManifest', () => {
  test('reads a manifest', () => {
    const { schemaVersion: _version, ...fields } = manifest;
    expect(parseManifest(JSON.stringify(manifest))).toEqual(fields);
  });

  test.each<[problem: RegExp, value: unknown]>([
    [/not JSON/, undefined],
    [/must be an object/, []],
    [/must be an object/, null],
    [/schemaVersion is 2; this release reads version 1/, { ...manifest, schemaVersion: 2, news: true }],
    [/schemaVersion is undefined/, {}],
    [/unknown field "extra"/, { ...manifest, extra: 1 }],
    [/name must be/, { ...manifest, name: '../etc' }],
    [/name must be/, { ...manifest, name: 'Sample' }],
    [/description must be/, { ...manifest, description: ' ' }],
    [/description must be/, { ...manifest, description: 'a\u001b[31m' }],
    [/version must be/, { ...manifest, version: '1.2' }],
    [/version must be/, { ...manifest, version: '1.02.3' }],
    [/version must be/, { ...manifest, version: '1.2.3/../..' }],
    [/apiVersion must be/, { ...manifest, apiVersion: '1' }],
    [/ability must be one of/, { ...manifest, ability: 'root' }],
    [/entry must be/, { ...manifest, entry: '../main.mjs' }],
    [/entry must be/, { ...manifest, entry: '--eval.mjs' }],
    [/entry must be/, { ...manifest, entry: 'main.sh' }],
    [/permissions must be an array/, { ...manifest, permissions: 'all' }],
    [/permissions must be one of/, { ...manifest, permissions: ['everything'] }],
    [/more than 5 elements/, { ...manifest, permissions: Array(6).fill('host-devices') }],
  ])('refuses with %s', (problem, value) => {
    expect(() => parseManifest(value === undefined ? '{' : JSON.stringify(value))).toThrow(problem);
  });
});

describe('parseIndex', () => {
  const entry = new TestPublisher().entry(Buffer.from('archive'));
  const index = (...plugins: unknown[]) => JSON.stringify({ schemaVersion: 1, plugins });

  test('reads an index', () => {
    expect(parseIndex(index(entry))).toEqual([entry]);
  });

  test.each<[problem: RegExp, text: string]>([
    [/not JSON/, '<html>'],
    [/schemaVersion is 7/, JSON.stringify({ schemaVersion: 7, items: [] })],
    [/plugins must be an array/, JSON.stringify({ schemaVersion: 1, plugins: {} })],
    [/more than 1000 elements/, index(...Array<object>(1001).fill(entry))],
    [/lists sample more than once/, index(entry, entry)],
    [/unknown field "sha1"/, index({ ...entry, sha1: 'x' })],
    [/digest must be a checksum/, index({ ...entry, digest: 'md5:0' })],
    [/digest must be a checksum/, index({ ...entry, digest: undefined })],
    [/signature must be/, index({ ...entry, signature: '' })],
    [/signature must be/, index({ ...entry, signature: undefined })],
    [/bytes must be/, index({ ...entry, bytes: 0 })],
    [/bytes must be/, index({ ...entry, bytes: 1e300 })],
    [/url must be/, index({ ...entry, url: 'a b' })],
    [/publisher must be/, index({ ...entry, publisher: '__proto__' })],
    [/index.plugins\[1\].version must be/, index(entry, { ...entry, name: 'other', version: 'latest' })],
  ])('refuses with %s', (problem, text) => {
    expect(() => parseIndex(text)).toThrow(problem);
  });
});

test('versions are compared by number', () => {
  expect(compareVersions('1.10.0', '1.9.9')).toBeGreaterThan(0);
  expect(compareVersions('0.9.0', '1.0.0')).toBeLessThan(0);
  expect(compareVersions('1.2.3', '1.2.3')).toBe(0);
});

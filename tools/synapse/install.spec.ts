import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentOf, findSynapse } from './install.mjs';

describe('the installation of Synapse', () => {
  let cache: string;
  beforeEach(() => {
    cache = mkdtempSync(join(tmpdir(), 'synapse-cache-'));
  });
  afterEach(() => rmSync(cache, { recursive: true }));

  test('is found only when it is complete', () => {
    expect(findSynapse({ env: {}, cache })).toBeUndefined();
    const folder = environmentOf(cache);
    mkdirSync(folder);
    expect(findSynapse({ env: {}, cache })).toBeUndefined();
    writeFileSync(join(folder, 'installed'), '');
    expect(findSynapse({ env: {}, cache })).toBe(join(folder, 'bin/python'));
  });

  test('can be replaced by another one', () => {
    expect(findSynapse({ env: { HEADGATE_TEST_SYNAPSE: '/opt/python' }, cache })).toBe('/opt/python');
  });

  test('pins every package by its hash, and names no registry', () => {
    const lines = readFileSync(join(import.meta.dirname, 'requirements.txt'), 'utf8').split('\n');
    const packages = lines.filter((line) => /^[a-z]/i.test(line));
    expect(packages.length).toBeGreaterThan(40);
    for (const line of packages) expect(line).toMatch(/^[\w.-]+==[\w.]+ \\$/);
    expect(lines.filter((line) => line.includes('--hash=sha256:')).length).toBeGreaterThanOrEqual(packages.length);
    expect(lines.join('\n')).not.toMatch(/:\/\/|index-url/);
  });
});

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentOf, findPeer, installPeer, PEERS } from './install.mjs';

describe.each(Object.keys(PEERS))('the installation of %s', (name) => {
  let cache: string;
  beforeEach(() => {
    cache = mkdtempSync(join(tmpdir(), 'peer-cache-'));
  });
  afterEach(() => rmSync(cache, { recursive: true }));

  test('is found only when it is complete', () => {
    expect(findPeer(name, { env: {}, cache })).toBeUndefined();
    const folder = environmentOf(name, cache);
    mkdirSync(join(folder, 'lib/python3.11'), { recursive: true });
    expect(findPeer(name, { env: {}, cache })).toBeUndefined();
    writeFileSync(join(folder, 'installed'), '');
    expect(findPeer(name, { env: {}, cache })).toBe(PEERS[name]!.program(folder));
  });

  test('can be replaced by another one', () => {
    expect(findPeer(name, { env: { [PEERS[name]!.variable]: '/opt/program' }, cache })).toBe('/opt/program');
  });

  test('pins every package by its hash, and names no registry', () => {
    const lines = readFileSync(join(import.meta.dirname, name, 'requirements.txt'), 'utf8').split('\n');
    const packages = lines.filter((line) => /^[a-z]/i.test(line));
    expect(packages.length).toBeGreaterThan(0);
    for (const line of packages) expect(line).toMatch(/^[\w.-]+==[\w.]+ \\$/);
    expect(lines.filter((line) => line.includes('--hash=sha256:')).length).toBeGreaterThanOrEqual(packages.length);
    expect(lines.join('\n')).not.toMatch(/:\/\/|index-url/);
  });
});

test('an unknown peer is refused', () => {
  expect(() => findPeer('constructor')).toThrow('There is no peer "constructor". Choose synapse or valkey.');
  expect(() => installPeer('redis')).toThrow('There is no peer "redis".');
});

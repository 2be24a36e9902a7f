import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SILENT_LOG } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { archiveOf, filesOf, sha256Of, type TestPlugin } from '../testing/build-plugin.js';
import { packArchive } from '../format/pack-archive.js';
import { PluginFolder, type InstalledPlugin, type InstalledState } from './plugin-folder.js';

const works = async (_candidate: InstalledPlugin): Promise<void> => undefined;
const versionOf = (state: InstalledState | undefined): string | undefined =>
  state && 'manifest' in state ? state.manifest.version : state?.problem;

describe('PluginFolder', () => {
  let root: string;
  let plugins: PluginFolder;

  const reopen = async (): Promise<PluginFolder> => {
    plugins = new PluginFolder({ folder: join(root, 'plugins'), clock: new FixedClock(0), log: SILENT_LOG });
    await plugins.open();
    return plugins;
  };
  const install = async (plugin: TestPlugin = {}, check = works): Promise<() => Promise<void>> => {
    const archive = await archiveOf(plugin);
    const { name = 'sample', version = '1.0.0' } = plugin;
    return plugins.install({ name, version, digest: sha256Of(archive), origin: 'bundled' }, archive, check);
  };
  const contents = (folder: string): string[] => {
    const path = join(root, 'plugins', folder);
    return existsSync(path) ? readdirSync(path) : [];
  };

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'headgate-plugins-'));
    await reopen();
  });
  afterEach(() => rmSync(root, { recursive: true }));

  test('keeps an installed plugin over a restart', async () => {
    await install();
    const before = plugins.get('sample');
    await reopen();
    expect(plugins.get('sample')).toEqual(before);
    expect(before).toMatchObject({ manifest: { name: 'sample', version: '1.0.0' }, origin: 'bundled' });
    expect(contents('incoming')).toEqual([]);
  });

  test('replaces a version, and removes its files afterwards', async () => {
    await install();
    const removeOld = await install({ version: '1.1.0' });
    expect(versionOf(plugins.get('sample'))).toBe('1.1.0');
    expect(contents('versions')).toHaveLength(2);
    await removeOld();
    expect(contents('versions')).toEqual([expect.stringMatching(/^sample-1\.1\.0-/)]);
    expect(versionOf((await reopen()).get('sample'))).toBe('1.1.0');
  });

  test('keeps the old version when the new one does not work, and removes the new one', async () => {
    await install();
    const failing = install({ version: '2.0.0' }, async (candidate) => {
      expect(existsSync(join(candidate.folder, 'main.mjs'))).toBe(true);
      throw new Error('it does not start');
    });
    await expect(failing).rejects.toThrow('it does not start');
    expect(contents('versions')).toEqual([expect.stringMatching(/^sample-1\.0\.0-/)]);
    expect(versionOf((await reopen()).get('sample'))).toBe('1.0.0');
  });

  test.each<[title: string, files: Record<string, string>, problem: RegExp]>([
    ['a manifest of another plugin', filesOf({ name: 'other' }), /is that of other 1.0.0, but the index offers sample/],
    ['a manifest of another version', filesOf({ version: '9.0.0' }), /is that of sample 9.0.0/],
    ['no entry', { 'plugin.json': filesOf()['plugin.json'] ?? '' }, /has no file main.mjs/],
    ['a manifest that is not one', { ...filesOf(), 'plugin.json': '[]' }, /must be an object/],
  ])('refuses %s, and leaves nothing', async (_title, files, problem) => {
    const archive = await packArchive(files);
    const offer = { name: 'sample', version: '1.0.0', digest: sha256Of(archive), origin: 'bundled' };
    await expect(plugins.install(offer, archive, works)).rejects.toMatchObject({
      code: 'INVALID_PLUGIN',
      message: expect.stringMatching(problem) as string,
    });
    expect([contents('incoming'), contents('versions'), contents('records')]).toEqual([[], [], []]);
  });

  test('removes a plugin with its files, and nothing else', async () => {
    await install();
    await install({ name: 'sample-two' });
    writeFileSync(join(root, 'registry.db'), 'not a plugin');
    await plugins.remove('sample');
    expect(plugins.get('sample')).toBeUndefined();
    expect(contents('versions')).toEqual([expect.stringMatching(/^sample-two-1\.0\.0-/)]);
    expect([...(await reopen()).all().keys()]).toEqual(['sample-two']);
    expect(readFileSync(join(root, 'registry.db'), 'utf8')).toBe('not a plugin');
  });

  test('removes what an interrupted installation has left, and only that', async () => {
    await install();
    for (const path of ['incoming/sample-2.0.0-12345678', 'versions/sample-2.0.0-12345678'])
      mkdirSync(join(root, 'plugins', path), { recursive: true });
    writeFileSync(join(root, 'plugins/records/sample.json.1.new'), '{');
    await reopen();
    expect(contents('versions')).toEqual([expect.stringMatching(/^sample-1\.0\.0-/)]);
    expect(contents('records')).toEqual(['sample.json']);
    expect(existsSync(join(root, 'plugins/incoming'))).toBe(false);
  });

  test('reports a file that is missing or was changed', async () => {
    await install();
    const folder = join(root, 'plugins/versions', contents('versions')[0] ?? '');
    writeFileSync(join(folder, 'main.mjs'), 'process.exit()');
    expect(versionOf((await reopen()).get('sample'))).toMatch(/main.mjs is missing or was changed/);
    rmSync(join(folder, 'main.mjs'));
    expect(versionOf((await reopen()).get('sample'))).toMatch(/main.mjs is missing or was changed/);
    await install();
    expect(versionOf((await reopen()).get('sample'))).toBe('1.0.0');
  });

  test.each([
    ['damaged', '{"name":'],
    ['written by a newer release', '{"schemaVersion":2,"name":"sample"}'],
    ['that names a folder elsewhere', undefined],
  ])('reports a record that is %s, and keeps it with all files', async (_title, text) => {
    await install();
    const file = join(root, 'plugins/records/sample.json');
    const changed = text ?? readFileSync(file, 'utf8').replace(/"folder": "[^"]+"/, '"folder": "../../.."');
    writeFileSync(file, changed);
    expect(versionOf((await reopen()).get('sample'))).toMatch(/sample.json can't be used/);
    expect(readFileSync(file, 'utf8')).toBe(changed);
    expect(contents('versions')).toHaveLength(1);
    await plugins.remove('sample');
    expect((await reopen()).all().size).toBe(0);
    expect(contents('versions')).toEqual([]);
    expect(existsSync(root)).toBe(true);
  });
});

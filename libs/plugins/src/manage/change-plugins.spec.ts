import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMINISTRATOR, Audit, DomainError, SILENT_LOG, type Caller } from '@headgate/domain-contracts';
import { FixedClock, MemoryAuditLog } from '@headgate/testing';
import { PluginFolder } from '../install/plugin-folder.js';
import { PluginHost } from '../run/plugin-host.js';
import type { PluginOffer } from '../store/plugin-source.js';
import { PluginStore } from '../store/plugin-store.js';
import { archiveOf, servingWith, sha256Of, type TestPlugin } from '../testing/build-plugin.js';
import { ChangingPlugins, InstallPlugin, RemovePlugin } from './change-plugins.js';
import { ListPlugins } from './list-plugins.js';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };

describe('plugins', () => {
  let data: string;
  let offers: PluginOffer[];
  let folder: PluginFolder;
  let host: PluginHost;
  let log: MemoryAuditLog;
  let install: InstallPlugin;
  let remove: RemovePlugin;
  let list: ListPlugins;

  beforeEach(async () => {
    data = mkdtempSync(join(tmpdir(), 'headgate-plugins-'));
    offers = [];
    const clock = new FixedClock(0);
    folder = new PluginFolder({ folder: join(data, 'plugins'), clock, log: SILENT_LOG });
    await folder.open();
    host = new PluginHost({ workFolder: join(data, 'work'), clock, log: SILENT_LOG });
    log = new MemoryAuditLog();
    const store = new PluginStore([{ origin: 'bundled', offers: async () => offers }], SILENT_LOG);
    const deps = { store, folder, host, audit: new Audit(log, clock), clock, changing: new ChangingPlugins() };
    install = new InstallPlugin(deps);
    remove = new RemovePlugin(deps);
    list = new ListPlugins(store, folder);
  });
  afterEach(async () => {
    await host.close();
    rmSync(data, { recursive: true });
  });

  const offer = async (plugin: TestPlugin = {}, fetch?: () => Promise<Buffer>): Promise<void> => {
    const archive = await archiveOf(plugin);
    const { name = 'sample', version = '1.0.0', apiVersion = 1 } = plugin;
    const described = { name, description: `About ${name}`, version, apiVersion, origin: 'bundled' };
    offers = [
      ...offers.filter((other) => other.name !== name),
      { ...described, digest: sha256Of(archive), fetch: fetch ?? (async () => archive) },
    ];
  };
  const listed = async () => (await list.read()).plugins;
  const installed = () => {
    const state = folder.get('sample');
    if (!state || 'problem' in state) throw new Error('sample is not installed');
    return state;
  };

  test('are installed, used, upgraded and removed', async () => {
    await offer({ code: servingWith(`{ version: () => 'one' }`) });
    expect(await listed()).toEqual([
      {
        name: 'sample',
        description: 'About sample',
        version: '1.0.0',
        installed: false,
        inStore: true,
        origin: 'bundled',
      },
    ]);
    await install.run('sample', ann);
    expect(await host.call(installed(), 'version', {})).toBe('one');
    await offer({ version: '1.1.0', code: servingWith(`{ version: () => 'two' }`, { version: '1.1.0' }) });
    expect(await listed()).toMatchObject([{ version: '1.0.0', installed: true, availableVersion: '1.1.0' }]);
    await install.run('sample', ann);
    expect(await host.call(installed(), 'version', {})).toBe('two');
    offers = [];
    expect(await listed()).toMatchObject([{ name: 'sample', version: '1.1.0', installed: true, inStore: false }]);
    await remove.run('sample', ann);
    expect(await listed()).toEqual([]);
    expect(log.entries.map(({ caller, action, ref, outcome }) => [caller, action, ref, outcome])).toEqual([
      ['ann', 'install plugin', 'plugin/sample', 'ok'],
      ['ann', 'install plugin', 'plugin/sample', 'ok'],
      ['ann', 'remove plugin', 'plugin/sample', 'ok'],
    ]);
  });

  test('are planned without a change', async () => {
    await offer();
    expect((await install.plan('sample')).steps.map(({ name }) => name)).toEqual([
      'fetch',
      'verify',
      'check',
      'install',
    ]);
    expect(folder.all().size).toBe(0);
    await install.run('sample', ann);
    expect((await install.plan('sample')).steps).toEqual([]);
    expect((await remove.plan('sample')).steps).toHaveLength(1);
    expect(folder.all().size).toBe(1);
  });

  test('that no store offers, or that are not installed, are not found', async () => {
    await expect(install.run('none', ann)).rejects.toMatchObject({ code: 'PLUGIN_NOT_FOUND' });
    await offer();
    await expect(remove.run('sample', ann)).rejects.toMatchObject({ code: 'PLUGIN_NOT_FOUND' });
  });

  test('that are installed already stay as they are', async () => {
    await offer();
    await install.run('sample', ann);
    const before = installed();
    await install.run('sample', ann);
    expect(installed()).toBe(before);
    expect(log.entries).toHaveLength(1);
  });

  test('are not replaced by an older version', async () => {
    await offer({ version: '2.0.0' });
    await install.run('sample', ann);
    await offer({ version: '1.0.0' });
    await expect(install.run('sample', ann)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(installed().manifest.version).toBe('2.0.0');
  });

  test('keep their old version when the new one does not start', async () => {
    await offer();
    await install.run('sample', ann);
    await offer({ version: '2.0.0', code: 'throw new Error("broken")' });
    await expect(install.run('sample', ann)).rejects.toMatchObject({ code: 'PLUGIN_FAILED' });
    expect(installed().manifest.version).toBe('1.0.0');
    expect(await host.call(installed(), 'echo', 1)).toBe(1);
    expect(log.entries.at(-1)).toMatchObject({ outcome: 'error', action: 'install plugin' });
  });

  test('are changed by one request at a time', async () => {
    let arrive = (_archive: Buffer): void => undefined;
    const arrival = new Promise<Buffer>((resolve) => (arrive = resolve));
    await offer({}, () => arrival);
    const first = install.run('sample', ann);
    await expect(install.run('sample', ann)).rejects.toMatchObject({ code: 'BUSY' });
    await expect(remove.run('sample', ann)).rejects.toMatchObject({ code: 'BUSY' });
    arrive(await archiveOf());
    await first;
    await remove.run('sample', ann);
  });

  test('are neither removed nor replaced while they work', async () => {
    await offer({
      code: servingWith('{ wait: () => new Promise((resolve) => (globalThis.go = resolve)), go: () => go() }'),
    });
    await install.run('sample', ann);
    await host.call(installed(), 'echo', 1);
    const waiting = host.call(installed(), 'wait', {});
    await expect(remove.run('sample', ann)).rejects.toMatchObject({ code: 'BUSY' });
    await offer({ version: '1.1.0' });
    await expect(install.run('sample', ann)).rejects.toMatchObject({ code: 'BUSY' });
    await host.call(installed(), 'go', {});
    await waiting;
    await remove.run('sample', ann);
  });

  test('leave nothing when their archive is refused', async () => {
    await offer({}, () => Promise.reject(new DomainError('INVALID_PLUGIN', 'wrong digest')));
    await expect(install.run('sample', ann)).rejects.toThrow('wrong digest');
    expect(await listed()).toMatchObject([{ installed: false }]);
  });

  test('that are damaged are listed with the reason, and can be installed again', async () => {
    await offer();
    await install.run('sample', ann);
    rmSync(join(installed().folder, 'main.mjs'));
    await folder.open();
    expect(await listed()).toMatchObject([{ installed: true, problem: expect.stringMatching(/main.mjs/) as string }]);
    await install.run('sample', ann);
    expect(await listed()).not.toMatchObject([{ problem: expect.anything() as unknown }]);
  });
});

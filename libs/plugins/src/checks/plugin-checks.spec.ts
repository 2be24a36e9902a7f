import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SILENT_LOG } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { PluginFolder } from '../install/plugin-folder.js';
import { PluginHost } from '../run/plugin-host.js';
import { archiveOf, servingWith, sha256Of, type TestPlugin } from '../testing/build-plugin.js';
import { PluginChecks } from './plugin-checks.js';

describe('PluginChecks', () => {
  const clock = new FixedClock(0);
  let data: string;
  let plugins: PluginFolder;
  let host: PluginHost;

  beforeEach(async () => {
    data = mkdtempSync(join(tmpdir(), 'headgate-checks-'));
    plugins = new PluginFolder({ folder: join(data, 'plugins'), clock, log: SILENT_LOG });
    await plugins.open();
    host = new PluginHost({ workFolder: join(data, 'work'), clock, log: SILENT_LOG });
  });
  afterEach(async () => {
    await host.close();
    rmSync(data, { recursive: true });
  });

  const install = async (name: string, checks: string): Promise<void> => {
    const plugin: TestPlugin = { name, ability: 'doctor-checks' };
    const archive = await archiveOf({ ...plugin, code: servingWith(`{ checks: () => (${checks}) }`, plugin) });
    await plugins.install(
      { name, version: '1.0.0', digest: sha256Of(archive), origin: '' },
      archive,
      async () => undefined,
    );
  };
  const check = { name: 'load', status: 'warning', message: 'High.', remedy: 'Stop some VMs.' };

  test('are those of all plugins with checks, and a plugin that fails does not hide the others', async () => {
    await install('good', JSON.stringify([check]));
    await install('crashing', 'process.exit(1)');
    await install('lying', JSON.stringify([{ ...check, status: 'fine' }]));
    await install('escaping', JSON.stringify([{ ...check, message: 'a\u001b[2J' }]));
    await install('flooding', `Array(51).fill(${JSON.stringify(check)})`);
    const found = await new PluginChecks(plugins, host).run();
    expect(found.map(({ name }) => name)).toEqual([
      'load',
      ...['crashing', 'lying', 'escaping', 'flooding'].map((plugin) => `plugin ${plugin}`),
    ]);
    for (const { plugin, status, message } of found) if (status === 'error') expect(message).toContain(plugin);
    expect(found.map(({ plugin, status, message }) => [plugin, status, message])).toEqual([
      ['good', 'warning', 'High.'],
      ['crashing', 'error', expect.stringMatching(/exited with status 1/)],
      ['lying', 'error', expect.stringMatching(/status must be one of/)],
      ['escaping', 'error', expect.stringMatching(/message must be a line/)],
      ['flooding', 'error', expect.stringMatching(/more than 50 elements/)],
    ]);
  });

  test('report a plugin whose files are damaged', async () => {
    await install('good', '[]');
    const state = plugins.get('good');
    rmSync(join(state && 'folder' in state ? state.folder : '', 'main.mjs'));
    await plugins.open();
    expect(await new PluginChecks(plugins, host).run()).toMatchObject([
      {
        plugin: 'good',
        name: 'plugin good',
        status: 'error',
        message: expect.stringMatching(/^The plugin good can't be used\. .*main\.mjs is missing/) as string,
      },
    ]);
  });
});

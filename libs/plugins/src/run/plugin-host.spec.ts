import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SILENT_LOG } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { parseManifest } from '../format/manifest.js';
import type { InstalledPlugin } from '../install/plugin-folder.js';
import { filesOf, serving, servingWith, type TestPlugin } from '../testing/build-plugin.js';
import { FIRST_PAUSE_MS, IDLE_TIMEOUT_MS, PluginHost } from './plugin-host.js';
import { sandboxedCommand, type PluginPaths } from './sandboxed-command.js';

describe('PluginHost', () => {
  let data: string;
  let clock: FixedClock;
  let host: PluginHost;

  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'headgate-host-'));
    clock = new FixedClock(0);
    host = new PluginHost({ workFolder: join(data, 'work'), clock, log: SILENT_LOG });
    writeFileSync(join(data, 'registry.db'), 'secret');
  });
  afterEach(async () => {
    await host.close();
    rmSync(data, { recursive: true });
  });

  const installed = (plugin: TestPlugin = {}): InstalledPlugin => {
    const files = filesOf(plugin);
    const folder = join(data, 'versions', plugin.name ?? 'sample');
    mkdirSync(folder, { recursive: true });
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    return { manifest: parseManifest(files['plugin.json'] ?? ''), folder, digest: '', origin: '', installedAt: '' };
  };
  const withMethods = (methods: string, plugin: TestPlugin = {}): InstalledPlugin =>
    installed({ ...plugin, code: servingWith(methods, plugin) });

  test('starts a plugin with its first call, and stops it when it is idle', async () => {
    const plugin = withMethods('{ pid: () => process.pid }');
    const first = await host.call(plugin, 'pid', {});
    expect(await host.call(plugin, 'pid', {})).toBe(first);
    clock.advance(IDLE_TIMEOUT_MS);
    expect(await host.call(plugin, 'pid', {})).not.toBe(first);
  });

  test('starts a plugin that failed again, after a pause that doubles', async () => {
    const plugin = withMethods('{ crash: () => process.exit(9) }');
    const crash = () => host.call(plugin, 'crash', {});
    await expect(crash()).rejects.toThrow(/exited with status 9/);
    await expect(crash()).rejects.toThrow(
      /has failed 1 times and can be started again in 1 s. It exited with status 9/,
    );
    clock.advance(FIRST_PAUSE_MS);
    await expect(crash()).rejects.toThrow(/exited with status 9/);
    clock.advance(FIRST_PAUSE_MS);
    await expect(host.call(plugin, 'echo', 1)).rejects.toThrow(/has failed 2 times and can be started again in 1 s/);
    clock.advance(FIRST_PAUSE_MS);
    expect(await host.call(plugin, 'echo', 1)).toBe(1);
    await expect(crash()).rejects.toThrow(/exited with status 9/);
    await expect(crash()).rejects.toThrow(/has failed 1 times/);
  });

  test('ends a plugin that hangs, and pauses as after a crash', async () => {
    const plugin = withMethods('{ hang: () => { for (;;); } }');
    await host.call(plugin, 'echo', 1);
    const hanging = host.call(plugin, 'hang', {}, 1000);
    const outcome = expect(hanging).rejects.toThrow(/did not answer "hang" within 1 s/);
    clock.advance(1000);
    await outcome;
    await expect(host.call(plugin, 'echo', 1)).rejects.toThrow(/can be started again/);
  });

  test.each<[title: string, plugin: TestPlugin, problem: RegExp]>([
    [
      'describes another version',
      { code: serving({ version: '2.0.0' }) },
      /describes another version than its manifest/,
    ],
    ['does not start', { code: 'import "./missing.mjs";' }, /exited with status 1/],
    ['needs a newer API', { apiVersion: 2 }, /needs version 2 of the plugin API; this release has version 1/],
  ])('refuses a candidate that %s', async (_title, plugin, problem) => {
    await expect(host.check(installed(plugin))).rejects.toThrow(problem);
  });

  test('accepts a candidate that works, while the installed version runs', async () => {
    const plugin = installed();
    await host.call(plugin, 'echo', 1);
    await host.check(plugin);
    expect(await host.call(plugin, 'echo', 2)).toBe(2);
    expect(readdirSync(join(data, 'work'))).toEqual(['sample']);
  });

  test('runs a plugin in a data folder that is behind a symbolic link', async () => {
    const link = join(data, 'link');
    symlinkSync(data, link);
    host = new PluginHost({ workFolder: join(link, 'work'), clock, log: SILENT_LOG });
    const plugin = installed();
    expect(await host.call({ ...plugin, folder: join(link, 'versions/sample') }, 'echo', 1)).toBe(1);
  });

  test('stops a plugin with its work folder', async () => {
    const plugin = withMethods(`{ write: async () => (await import('node:fs')).writeFileSync('note', 'x') }`);
    await host.call(plugin, 'write', {});
    expect(readdirSync(join(data, 'work/sample'))).toEqual(['note']);
    await host.stop('sample');
    expect(existsSync(join(data, 'work/sample'))).toBe(false);
  });

  describe('keeps a plugin', () => {
    /** The refusals of Node's permission model. */
    const REFUSAL =
      /Access to this API has been restricted|requires full fs.read and fs.write permissions|Cannot load native addon/;
    /** Runs an expression in a plugin. */
    const evaluate = (expression: string): Promise<unknown> =>
      host.call(
        withMethods(`{ attack: async () => { const fs = await import('node:fs'); return ${expression}; } }`),
        'attack',
        {},
      );

    test('from the environment of the service', async () => {
      process.env['HEADGATE_TEST_SECRET'] = 'secret';
      try {
        expect(await evaluate('Object.keys(process.env).sort()')).toEqual(['HOME', 'LANG', 'TMPDIR', 'TZ']);
      } finally {
        delete process.env['HEADGATE_TEST_SECRET'];
      }
    });

    test.each([
      ['reading the data of the service', `fs.readFileSync('../../registry.db', 'utf8')`],
      ['listing the data of the service', `fs.readdirSync('../..')`],
      ['reading files of the machine', `fs.readFileSync('/etc/passwd', 'utf8')`],
      [
        'reading its environment through /proc of the service',
        'fs.readFileSync(`/proc/${process.ppid}/environ`, "utf8")',
      ],
      [
        'linking to the data of the service',
        `(fs.symlinkSync('../../registry.db', 'link'), fs.readFileSync('link', 'utf8'))`,
      ],
      ['changing its own files', `fs.writeFileSync(process.argv[1], '')`],
      ['writing to the data of the service', `fs.writeFileSync('../../registry.db', '')`],
      ['starting programs', `(await import('node:child_process')).execFileSync('id').toString()`],
      ['starting workers', `(new (await import('node:worker_threads')).Worker('', { eval: true })).threadId`],
      ['loading native code', `process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6')`],
    ])('from %s', async (_title, expression) => {
      await expect(evaluate(expression)).rejects.toThrow(REFUSAL);
    });

    test('only because of its sandbox: without it, the attacks succeed', async () => {
      const command = ({ folder, entry }: PluginPaths) => ({
        program: process.execPath,
        args: [join(folder, entry)],
        env: {},
      });
      host = new PluginHost({ workFolder: join(data, 'work'), clock, log: SILENT_LOG, command });
      expect(await evaluate(`fs.readFileSync('../../registry.db', 'utf8')`)).toBe('secret');
    });

    test('from more memory than it may use', async () => {
      const grow = '{ grow: () => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)); } }';
      await expect(host.call(withMethods(grow), 'grow', {})).rejects.toThrow(/was ended by|exited with status/);
    });
  });
});

describe('sandboxedCommand', () => {
  const paths = { folder: '/data/versions/a', entry: 'main.mjs', workFolder: '/data/work/a' };

  test('limits resources with the tools of util-linux, where they exist', () => {
    const { program, args } = sandboxedCommand(paths, (name) => `/usr/bin/${name}`);
    expect(program).toBe('/usr/bin/setpriv');
    expect(args.join(' ')).toMatch(
      /^--no-new-privs --pdeathsig KILL -- \/usr\/bin\/prlimit --core=0 .* -- \S*node\S* --permission /,
    );
  });

  test('runs Node with its permission model in any case', () => {
    const { program, args } = sandboxedCommand(paths, () => undefined);
    expect(program).toBe(process.execPath);
    expect(args[0]).toBe('--permission');
    expect(args.at(-1)).toBe('/data/versions/a/main.mjs');
  });
});

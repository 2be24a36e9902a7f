import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SILENT_LOG, SystemClock } from '@headgate/domain-contracts';
import { archiveOf } from '../../testing/build-plugin.js';
import { INSTALL_STEPS, PluginFolder, type InstallStep } from '../plugin-folder.js';

/** Real processes run. */
const TIMEOUT_MS = 180_000;
const CONFIG = join(import.meta.dirname, 'vite.config.js');

describe('an upgrade that is killed', () => {
  let folder: string;
  let program: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-crash-'));
    // A bundle, because the process that is killed must be plain Node.
    const vite = createRequire(import.meta.url)
      .resolve('vite/package.json')
      .replace('package.json', 'bin/vite.js');
    const args = [
      'build',
      '--ssr',
      'src/install/crash/installer.ts',
      '--outDir',
      join(folder, 'program'),
      '--config',
      CONFIG,
    ];
    await promisify(execFile)(process.execPath, [vite, ...args], {
      cwd: join(import.meta.dirname, '../../..'),
      env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' },
    });
    program = join(folder, 'program/installer.js');
    for (const version of ['1.0.0', '2.0.0'])
      writeFileSync(join(folder, `${version}.tar`), await archiveOf({ version }));
  }, TIMEOUT_MS);

  afterAll(() => rmSync(folder, { recursive: true }));

  const install = async (data: string, version: string, lastStep?: InstallStep): Promise<NodeJS.Signals | null> => {
    const args = [
      program,
      data,
      join(folder, `${version}.tar`),
      version,
      ...(lastStep === undefined ? [] : [lastStep]),
    ];
    const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, NODE_OPTIONS: '' } });
    const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return signal;
  };

  test.each(INSTALL_STEPS)(
    'after the step "%s" leaves the old or the new version, complete, and nothing else',
    async (step) => {
      const data = join(folder, `data-${step.replace(' ', '-')}`);
      expect(await install(data, '1.0.0')).toBeNull();
      expect(await install(data, '2.0.0', step)).toBe('SIGKILL');
      const plugins = new PluginFolder({ folder: data, clock: new SystemClock(), log: SILENT_LOG });
      await plugins.open();
      const isCommitted = INSTALL_STEPS.indexOf(step) >= INSTALL_STEPS.indexOf('recorded');
      const version = isCommitted ? '2.0.0' : '1.0.0';
      expect(plugins.get('sample')).toMatchObject({ manifest: { version } });
      expect(readdirSync(join(data, 'versions'))).toEqual([expect.stringMatching(new RegExp(`^sample-${version}-`))]);
      expect(readdirSync(data).sort()).toEqual(['records', 'versions']);
      // And the upgrade can be repeated.
      expect(await install(data, '2.0.0')).toBeNull();
    },
    TIMEOUT_MS,
  );
});

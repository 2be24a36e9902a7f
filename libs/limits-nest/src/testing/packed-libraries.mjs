// Packs the libraries once for all specs that install them, see packed-project.ts.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const workspace = join(import.meta.dirname, '../../../..');

/** @param {string} program @param {string[]} args @param {string} cwd */
const run = (program, args, cwd) =>
  execFileSync(program, args, {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });

/** The global setup of Jest. The tarballs are in the folder `HEADGATE_TEST_PACKAGES` until the process of Jest ends. */
export default function packLibraries() {
  const folder = mkdtempSync(join(tmpdir(), 'limits-packages-'));
  process.env['HEADGATE_TEST_PACKAGES'] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  run(
    process.execPath,
    [join(workspace, 'tools/pack/pack.mjs'), '--out', folder, 'limits-nest', 'limits-redis'],
    workspace,
  );
  // The packages' own dependencies come from this workspace too.
  const client = join(workspace, 'node_modules/@redis/client');
  run('npm', ['pack', '--loglevel=error', '--pack-destination', folder], client);
}

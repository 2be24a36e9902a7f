import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTinyGuest } from '../../tiny-guest/build.mjs';

/** Prepares what the workers share, and lets Jest start them through `node.sh`. */
export default async function setup() {
  // Workers have no network, and would build it at the same time.
  await buildTinyGuest();
  const folder = mkdtempSync(join(tmpdir(), 'hgtest-libvirt-'));
  chmodSync(folder, 0o755);
  process.env['HEADGATE_TEST_FOLDER'] = folder;
  process.env['HEADGATE_TEST_NODE'] = process.execPath;
  // Jest has no option for the program of its workers, and starts them with `child_process.fork()`, which runs this
  // path.
  process.execPath = join(import.meta.dirname, 'node.sh');
}

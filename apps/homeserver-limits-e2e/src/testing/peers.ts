import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const INSTALLER = join(import.meta.dirname, '../../../../tools/peers/install.mjs');

/** A program that `tools/peers` has installed; undefined without it. */
export function installedPeer(name: string): string | undefined {
  const found = spawnSync(process.execPath, [INSTALLER, '--find', name], { encoding: 'utf8' });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

/** `describe`, or a skipped one whose title says how to install the peer. */
export const describeWhere =
  (program: string | undefined, name: string) =>
  (title: string, suite: () => void): void => {
    if (program === undefined) describe.skip(`${title}: skipped, node tools/peers/install.mjs ${name}`, suite);
    else describe(title, suite);
  };

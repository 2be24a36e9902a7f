import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const INSTALLER = join(import.meta.dirname, '../../../../tools/peers/install.mjs');

/** The program of a peer that `tools/peers/install.mjs` has installed; undefined when it has not. */
export function findPeer(name: string): string | undefined {
  const { status, stdout } = spawnSync(process.execPath, [INSTALLER, '--find', name], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

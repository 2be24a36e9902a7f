import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const PEERS = join(import.meta.dirname, '../../../../tools/peers/install.mjs');

/** The path of the system's kubectl, or else of the one that was built for the tests; undefined when there is none. */
export function findKubectl(path = process.env['PATH'] ?? ''): string | undefined {
  const candidates = path.split(delimiter).map((folder) => join(folder, 'kubectl'));
  return candidates.find(isExecutable) ?? builtKubectl();
}

function builtKubectl(): string | undefined {
  const { status, stdout } = spawnSync(process.execPath, [PEERS, '--find', 'kubectl'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

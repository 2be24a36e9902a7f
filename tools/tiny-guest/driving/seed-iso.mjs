import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastLine, runCommand } from '../../local/run-command.mjs';

/**
 * Writes a NoCloud seed as an ISO image.
 * @param {string} folder the folder for its files and the image
 * @param {{ metaData: string, userData: string }} seed
 * @returns {Promise<string>} path of the image
 */
export async function writeSeedIso(folder, { metaData, userData }) {
  const files = join(folder, 'seed');
  const image = join(folder, 'seed.iso');
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, 'meta-data'), metaData);
  writeFileSync(join(files, 'user-data'), userData);
  const result = await runCommand(
    'xorriso',
    ['-as', 'mkisofs', '-quiet', '-V', 'cidata', '-J', '-R', '-o', image, files],
    {
      timeoutMs: 60_000,
    },
  );
  if (result.code !== 0) throw new Error(`xorriso failed (${lastLine(result)}).`);
  return image;
}

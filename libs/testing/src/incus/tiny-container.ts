import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const RECIPE = join(import.meta.dirname, '../../../../tools/tiny-container/build.mjs');

let path: Promise<string> | undefined;

/** Path of the image of the tiny container, which is built if necessary. */
export function tinyContainer(): Promise<string> {
  path ??= build();
  return path;
}

async function build(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [RECIPE], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return (JSON.parse(stdout) as { path: string }).path;
}

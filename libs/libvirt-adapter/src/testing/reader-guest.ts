import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const RECIPE = join(import.meta.dirname, '../../../../tools/reader-guest/build.mjs');

let folder: Promise<string> | undefined;

/** The folder of the guest that reads files, which is built if necessary. */
export function readerGuest(): Promise<string> {
  folder ??= build();
  return folder;
}

async function build(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [RECIPE], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return (JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { folder: string }).folder;
}

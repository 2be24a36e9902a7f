import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The default account of the tiny guest. */
export const TINY_LOGIN = { user: 'headgate', password: 'headgate' };

/** Its entry in the application's catalog. */
export const TINY_ENTRY = {
  name: 'tiny',
  description: 'Tiny guest',
  containerDisk: '',
  defaultUser: TINY_LOGIN.user,
  builtLocally: 'tiny',
} as const;

const RECIPE = join(import.meta.dirname, '../../../../tools/tiny-guest/build.mjs');

let path: Promise<string> | undefined;

/** Path of the tiny guest's image, which is built if necessary. */
export function tinyGuest(): Promise<string> {
  path ??= build();
  return path;
}

async function build(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [RECIPE], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return (JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { path: string }).path;
}

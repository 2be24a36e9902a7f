import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** From the recipe of the tiny guest. */
export const TINY_LOGIN = { user: 'headgate', password: 'headgate' };

/** The entry that the application's catalog has for it. */
export const TINY_ENTRY = {
  name: 'tiny',
  description: 'Tiny guest',
  containerDisk: '',
  defaultUser: TINY_LOGIN.user,
  builtLocally: 'tiny',
} as const;

const RECIPE = join(import.meta.dirname, '../../../../tools/tiny-guest/build.mjs');

/** Path of the tiny guest's image; built when this machine has none yet. */
export async function tinyGuest(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [RECIPE], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return (JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { path: string }).path;
}

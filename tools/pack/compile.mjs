import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesOf } from './entries.mjs';

/** @typedef {import('./libraries.mjs').Library} Library */

/**
 * Compiles libraries in one run to JavaScript and declarations: the files that their exports and programs need, so
 * neither specs nor benchmarks. Those of a library are in `folder/<library>/src`.
 * @param {string} root of the workspace
 * @param {Library[]} libraries
 * @param {string} folder
 * @throws Error when a file does not compile; the messages are on standard output
 */
export function compile(root, libraries, folder) {
  const libs = join(root, 'libs');
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: false,
      noEmitOnError: true,
      declaration: true,
      rootDir: libs,
      outDir: folder,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    files: libraries.flatMap((library) => {
      const { exports, bin } = entriesOf(library);
      return Object.values({ ...exports, ...bin }).map((stem) => join(libs, library.folder, 'src', `${stem}.ts`));
    }),
  };
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'tsconfig.json');
  writeFileSync(file, JSON.stringify(config));
  execFileSync(process.execPath, [join(root, 'node_modules/typescript-native/bin/tsc'), '-p', file], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

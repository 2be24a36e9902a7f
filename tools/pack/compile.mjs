import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
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
  const entries = libraries.flatMap((library) => {
    const { exports, bin } = entriesOf(library);
    const fileOf = (/** @type {string} */ stem) => join(libs, library.folder, 'src', `${stem}.ts`);
    return [
      ...Object.entries(exports).map(([path, stem]) => ({
        specifier: posix.join(library.name, path),
        file: fileOf(stem),
      })),
      ...Object.values(bin).map((stem) => ({ file: fileOf(stem) })),
    ];
  });
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: false,
      noEmitOnError: true,
      declaration: true,
      rootDir: libs,
      outDir: folder,
      typeRoots: [join(root, 'node_modules/@types')],
      // The compiler writes no files of packages that it finds in node_modules. It finds some libraries by both ways,
      // and the one that its threads take first wins.
      paths: Object.fromEntries(entries.flatMap(({ specifier, file }) => (specifier ? [[specifier, [file]]] : []))),
    },
    files: entries.map(({ file }) => file),
  };
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'tsconfig.json');
  writeFileSync(file, JSON.stringify(config));
  execFileSync(process.execPath, [join(root, 'node_modules/typescript-native/bin/tsc'), '-p', file], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

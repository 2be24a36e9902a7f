import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesOf } from './entries.mjs';

/** @typedef {import('./libraries.mjs').Library} Library */

/** Node of the lockfile, for which programs are built. */
const NODE = '>=24';

/**
 * The applications that are published as programs: those with `publishConfig`, whose builds are single files.
 * @param {string} root of the workspace
 * @returns {Library[]} with their folders under `apps`
 */
export function readPrograms(root) {
  return readdirSync(join(root, 'apps'))
    .filter((folder) => existsSync(join(root, 'apps', folder, 'package.json')))
    .map((folder) => {
      const manifest = JSON.parse(readFileSync(join(root, 'apps', folder, 'package.json'), 'utf8'));
      return { name: manifest.name, folder, manifest };
    })
    .filter(({ manifest }) => manifest.publishConfig?.access === 'public');
}

/**
 * The package.json of a program. It has no dependencies: they are a part of its file.
 * @param {Library} program
 * @param {string} license
 */
export function programManifest(program, license) {
  const { name, version, description, keywords } = program.manifest;
  const { bin } = entriesOf(program);
  return {
    name,
    version,
    description,
    license,
    ...(keywords ? { keywords } : {}),
    type: 'module',
    bin: Object.fromEntries(Object.entries(bin).map(([command, stem]) => [command, `./dist/${stem}.js`])),
    files: ['dist'],
    engines: { node: NODE },
    publishConfig: { access: 'public' },
  };
}

/**
 * Builds a program into the content of its tarball.
 * @param {string} root of the workspace
 * @param {Library} program
 * @param {string} content a folder
 * @param {string} license
 * @throws Error when it does not build; the messages are on standard error
 */
export function fillProgram(root, program, content, license) {
  const source = join(root, 'apps', program.folder);
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  execFileSync(process.execPath, [vite, 'build', '--logLevel', 'warn', '--outDir', join(content, 'dist')], {
    cwd: source,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  // It is for copies of the file alone.
  rmSync(join(content, 'dist/package.json'), { force: true });
  cpSync(join(source, 'README.md'), join(content, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(content, 'LICENSE'));
  writeFileSync(join(content, 'package.json'), `${JSON.stringify(programManifest(program, license), null, 2)}\n`);
}

// Packs the libraries and programs for other teams: node tools/pack/pack.mjs [--out DIR] [LIBRARY…]
//   --out DIR   default: dist/packages
//   LIBRARY a folder of libs or a program of apps; default: all with publishConfig in their package.json. The libraries
//   that a library depends on are packed as well.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { importProblems, packageOf, typesOf } from './check-imports.mjs';
import { compile } from './compile.mjs';
import { packedLibraries, readLibraries } from './libraries.mjs';
import { packageManifest } from './package-manifest.mjs';
import { fillProgram, readPrograms } from './programs.mjs';
import { writeRequireTypes } from './require-types.mjs';

const root = join(import.meta.dirname, '../..');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: join(root, 'dist/packages') } },
});
const out = resolve(values.out);
const stage = join(out, 'stage');
/** The content of the tarball of a library. */
const contentOf = ({ folder }) => join(stage, 'packages', folder);

const { license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const isChosen = (folder) => positionals.length === 0 || positionals.includes(folder);
const programs = readPrograms(root).filter(({ folder }) => isChosen(folder));
const folders = positionals.filter((name) => !programs.some(({ folder }) => folder === name));
const libraries = folders.length === 0 && positionals.length > 0 ? [] : packedLibraries(readLibraries(root), folders);
const versions = Object.fromEntries(libraries.map(({ name, manifest }) => [name, manifest.version]));

/** The first sentence of a README. */
function firstSentence(readme) {
  const paragraph = readme.split(/\n{2,}/).find((text) => !text.startsWith('#')) ?? '';
  return (/^.*?\.(?= |$)/.exec(paragraph.replaceAll('\n', ' ')) ?? [''])[0];
}

/** Whether a specifier leads to a package of others that Node's `require()` knows as ES modules only. */
function hasModulesOnly(specifier) {
  const name = packageOf(specifier);
  const manifest = join(root, 'node_modules', name, 'package.json');
  if (/^[./]/.test(specifier) || versions[name] !== undefined || !existsSync(manifest)) return false;
  const { type, exports } = JSON.parse(readFileSync(manifest, 'utf8'));
  return type === 'module' && !JSON.stringify(exports ?? {}).includes('"require"');
}

/** @returns {string[]} the problems of the package */
function fill(library, compiled) {
  const source = join(root, 'libs', library.folder);
  const content = contentOf(library);
  cpSync(join(compiled, library.folder, 'src'), join(content, 'dist'), { recursive: true });
  writeRequireTypes(join(content, 'dist'), hasModulesOnly);
  cpSync(join(source, 'README.md'), join(content, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(content, 'LICENSE'));
  const description = firstSentence(readFileSync(join(source, 'README.md'), 'utf8'));
  const manifest = packageManifest(library, { license, versions, description });
  writeFileSync(join(content, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const hasSeparateTypes = (name) => existsSync(join(root, 'node_modules', typesOf(name)));
  return importProblems(content, hasSeparateTypes).map((problem) => `${library.name}: ${problem}`);
}

function main() {
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const compiled = join(stage, 'compiled');
  if (libraries.length > 0) compile(root, libraries, compiled);
  for (const program of programs) fillProgram(root, program, contentOf(program), license);
  const problems = [
    ...libraries.flatMap((library) => fill(library, compiled)),
    ...programs.flatMap((program) => importProblems(contentOf(program), () => false)),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const args = [
    'pack',
    '--json',
    '--loglevel=error',
    '--pack-destination',
    out,
    ...[...libraries, ...programs].map(contentOf),
  ];
  const packed = JSON.parse(execFileSync('npm', args, { cwd: stage, encoding: 'utf8' }));
  const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
  for (const { filename, size, unpackedSize, entryCount } of Object.values(packed)) {
    console.log(`${join(out, filename)}  ${kib(size)}, ${kib(unpackedSize)} unpacked, ${entryCount} files`);
  }
}

try {
  main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(stage, { recursive: true, force: true });
}

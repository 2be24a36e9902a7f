// Packs the publishable libraries: node tools/pack/pack.mjs [--out DIR]   (default: dist/packages)
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { LIBRARIES } from './libraries.mjs';
import { packageManifest } from './package-manifest.mjs';

const root = join(import.meta.dirname, '../..');

const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist/packages') } } });
const out = resolve(values.out);
mkdirSync(out, { recursive: true });

const readJson = (...path) => JSON.parse(readFileSync(join(...path), 'utf8'));
const run = (program, args, cwd) =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

/** The staging folder of a library: `package/` becomes the content of the tarball. */
const stage = (library) => join(out, 'stage', library);

/** Compiles JavaScript and declarations, against the declarations of the libraries packed before. */
function emit(library) {
  const source = join(root, 'libs', library, 'src');
  const paths = Object.fromEntries(
    LIBRARIES.slice(0, LIBRARIES.indexOf(library)).map((other) => [
      `@headgate/${other}`,
      [join(stage(other), 'package/dist/index.d.ts')],
    ]),
  );
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: false,
      noEmitOnError: true,
      declaration: true,
      rootDir: source,
      outDir: join(stage(library), 'package/dist'),
      typeRoots: [join(root, 'node_modules/@types')],
      types: ['node'],
      paths,
    },
    include: [source],
    exclude: ['**/*.spec.ts', '**/testing/**'].map((pattern) => join(source, pattern)),
  };
  writeFileSync(join(stage(library), 'tsconfig.json'), JSON.stringify(config));
  run(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(stage(library), 'tsconfig.json')],
    root,
  );
}

function pack(library) {
  const folder = join(stage(library), 'package');
  rmSync(stage(library), { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  emit(library);
  const versions = Object.fromEntries(
    LIBRARIES.map((name) => [`@headgate/${name}`, readJson(root, 'libs', name, 'package.json').version]),
  );
  const manifest = packageManifest(
    readJson(root, 'libs', library, 'package.json'),
    readJson(root, 'package.json'),
    versions,
  );
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(root, 'libs', library, 'README.md'), join(folder, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(
    run('npm', ['pack', '--json', '--pack-destination', out], folder),
  );
  const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
  return `${join(out, filename)}  ${kib(size)}, ${kib(unpackedSize)} unpacked, ${entryCount} files`;
}

for (const library of LIBRARIES) console.log(pack(library));
rmSync(join(out, 'stage'), { recursive: true, force: true });

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

/**
 * The problems with the imports of a built package: files that it does not contain, packages that its manifest does not
 * name, dependencies that no file imports. Peers may be there for other peers, such as reflect-metadata for Nest.
 * @param {string} folder with the package.json and `dist`
 * @param {(name: string) => boolean} hasSeparateTypes whether the types of a package are in one of `@types`
 * @returns {string[]} one sentence for each problem
 */
export function importProblems(folder, hasSeparateTypes) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
  const used = new Set();
  const problems = new Set(missingEntries(folder, manifest));
  for (const { file, specifier } of importsBelow(join(folder, 'dist'))) {
    const where = relative(folder, file);
    if (specifier.startsWith('.')) {
      if (!existsSync(targetOf(file, specifier))) problems.add(`${where} imports ${specifier}, which is not packed.`);
    } else if (!isBuiltin(specifier)) {
      const name = packageOf(specifier);
      const needed = file.endsWith('.d.ts') && hasSeparateTypes(name) ? typesOf(name) : name;
      used.add(needed);
      if (name !== manifest.name && !declared.has(needed)) {
        problems.add(`${where} imports ${specifier}, but the dependencies don't include ${needed}.`);
      }
    }
  }
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (!used.has(name)) problems.add(`The dependency ${name} is not imported by any packed file.`);
  }
  return [...problems];
}

/** @param {string} folder @param {Record<string, any>} manifest */
const missingEntries = (folder, { exports, bin }) =>
  filesOf([exports, bin ?? {}])
    .filter((file) => !existsSync(join(folder, file)))
    .map((file) => `${file} is exported, but not packed.`);

/** @param {unknown} entries of a manifest, with conditions and subpaths @returns {string[]} */
const filesOf = (entries) =>
  typeof entries === 'string' ? [entries] : Object.values(entries ?? {}).flatMap((entry) => filesOf(entry));

/** @param {string} folder */
function importsBelow(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(js|d\.ts)$/.test(name))
    .map((name) => join(folder, name))
    .flatMap((file) => {
      const { importedFiles, typeReferenceDirectives } = ts.preProcessFile(readFileSync(file, 'utf8'));
      return [...importedFiles, ...typeReferenceDirectives].map(({ fileName }) => ({ file, specifier: fileName }));
    });
}

/** The file that a relative import in `file` names. Declarations import the `.js` whose `.d.ts` is next to it. */
const targetOf = (file, specifier) => {
  const target = join(dirname(file), specifier);
  return file.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target;
};

/** @param {string} specifier */
export const packageOf = (specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** @param {string} name */
export const typesOf = (name) => `@types/${name.replace(/^@(.+)\//, '$1__')}`;

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} Library
 * @property {string} name of its package, such as `@headgate/fleet`
 * @property {string} folder under `libs`
 * @property {Record<string, any>} manifest its package.json
 */

/** @param {string} root of the workspace @returns {Map<string, Library>} by the names of their packages */
export function readLibraries(root) {
  const libraries = readdirSync(join(root, 'libs'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name: folder }) => {
      const manifest = JSON.parse(readFileSync(join(root, 'libs', folder, 'package.json'), 'utf8'));
      return { name: manifest.name, folder, manifest };
    });
  return new Map(libraries.map((library) => [library.name, library]));
}

/** A library for other teams. Its package.json stays `private`, so that npm never publishes the sources. */
const isProduct = ({ manifest }) => manifest.publishConfig?.access === 'public';

/**
 * The libraries to pack, each after its dependencies: the products, or those of the given folders, and all libraries
 * that they depend on.
 * @param {Map<string, Library>} libraries
 * @param {string[]} folders default: all products
 * @returns {Library[]}
 * @throws Error for an unknown folder, a dependency that is no library, and a circle
 */
export function packedLibraries(libraries, folders = []) {
  /** @type {Library[]} */
  const ordered = [];
  /** @param {Library} library @param {string[]} path */
  const visit = (library, path) => {
    if (path.includes(library.name)) throw new Error(`${[...path, library.name].join(' → ')} is a circle.`);
    if (ordered.includes(library)) return;
    for (const name of dependenciesOf(library)) {
      const dependency = libraries.get(name);
      if (!dependency) throw new Error(`${library.name} depends on ${name}, which is not in libs.`);
      visit(dependency, [...path, library.name]);
    }
    ordered.push(library);
  };
  for (const library of chosen(libraries, folders)) visit(library, []);
  return ordered;
}

/** @param {Map<string, Library>} libraries @param {string[]} folders */
function chosen(libraries, folders) {
  const all = [...libraries.values()];
  if (folders.length === 0) return all.filter(isProduct);
  return folders.map((folder) => {
    const library = all.find((one) => one.folder === folder);
    if (!library) throw new Error(`${folder} is not in libs.`);
    return library;
  });
}

/**
 * The packages of this workspace that a library depends on: npm links them for the version `*`.
 * @param {Library} library
 */
const dependenciesOf = ({ manifest }) =>
  Object.entries(manifest.dependencies ?? {})
    .filter(([, version]) => version === '*')
    .map(([name]) => name);

import { entriesOf } from './entries.mjs';

/** @typedef {import('./libraries.mjs').Library} Library */

/**
 * The first version whose `require()` loads ES modules without a warning, so that CommonJS applications can use them.
 */
const NODE = '>=22.19';

/**
 * Packages that an application must have only once: the framework and our own libraries, which share classes. They
 * become peer dependencies; all others stay dependencies.
 */
const isPeer = (name) => isOwn(name) || /^@nestjs\//.test(name) || ['reflect-metadata', 'rxjs'].includes(name);

const isOwn = (name) => name.startsWith('@headgate/');

/** An older major version that the libraries also work with, by package. */
const ALSO_SUPPORTED = { '@nestjs/common': '^11.0.0', '@nestjs/core': '^11.0.0' };

/**
 * The package.json of a packed library: built files instead of sources, version ranges instead of the workspace's `*`
 * and exact versions, and no settings of the workspace.
 * @param {Library} library
 * @param {{ license: string, versions: Record<string, string>, description: string }} context versions of the packed
 *   libraries by
 * name; a description for libraries that have none
 */
export function packageManifest(library, { license, versions, description }) {
  const { manifest } = library;
  const { exports, bin } = entriesOf(library);
  const isProgram = Object.keys(bin).length > 0;
  const ranges = Object.entries(manifest.dependencies ?? {}).map(([name, range]) => {
    if (range !== '*') return [name, [ALSO_SUPPORTED[name], `^${range}`].filter(Boolean).join(' || ')];
    if (!versions[name]) throw new Error(`${manifest.name} depends on ${name}, which is not packed.`);
    return [name, `^${versions[name]}`];
  });
  // A program brings its own libraries along: not every package manager that runs one installs peers.
  const belongsToApplication = (name) => isPeer(name) && !(isProgram && isOwn(name));
  return {
    name: manifest.name,
    version: manifest.version,
    description: manifest.description ?? description,
    license,
    ...(manifest.keywords ? { keywords: manifest.keywords } : {}),
    type: 'module',
    exports: {
      ...Object.fromEntries(Object.entries(exports).map(([path, stem]) => [path, conditions(stem)])),
      './package.json': './package.json',
    },
    // For TypeScript's legacy module resolution, which ignores exports.
    main: built(exports['.']).default,
    types: built(exports['.']).types,
    ...(isProgram
      ? { bin: Object.fromEntries(Object.entries(bin).map(([name, stem]) => [name, built(stem).default])) }
      : {}),
    files: ['dist'],
    sideEffects: false,
    engines: { node: NODE },
    publishConfig: { access: 'public' },
    ...filled(
      'dependencies',
      ranges.filter(([name]) => !belongsToApplication(name)),
    ),
    ...filled(
      'peerDependencies',
      ranges.filter(([name]) => belongsToApplication(name)),
    ),
  };
}

/** @param {string} stem */
const conditions = (stem) => {
  const { types, default: file } = built(stem);
  return {
    import: { types, default: file },
    require: { types: types.replace(/\.d\.ts$/, '.d.cts'), default: file },
    default: file,
  };
};

/** @param {string} stem */
const built = (stem) => ({ types: `./dist/${stem}.d.ts`, default: `./dist/${stem}.js` });

const filled = (name, ranges) => (ranges.length > 0 ? { [name]: Object.fromEntries(ranges) } : {});

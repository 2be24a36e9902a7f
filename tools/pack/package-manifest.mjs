/** The first version whose `require()` loads ES modules without a warning, so that CommonJS applications can use them. */
const NODE = '>=22.19';

/**
 * Packages that an application must have only once: the framework and our own libraries, which share classes. They become peer
 * dependencies; all others stay dependencies.
 */
const isPeer = (name) => /^@(?:nestjs|headgate)\//.test(name) || ['reflect-metadata', 'rxjs'].includes(name);

/** An older major version that the libraries also work with, by package. */
const ALSO_SUPPORTED = { '@nestjs/common': '^11.0.0', '@nestjs/core': '^11.0.0' };

/**
 * The package.json of a packed library: built files instead of sources, version ranges instead of the workspace's `*` and
 * exact versions, and no settings of the workspace.
 */
export function packageManifest(library, workspace, versions) {
  const ranges = Object.entries(library.dependencies ?? {}).map(([name, range]) => {
    if (range !== '*') return [name, [ALSO_SUPPORTED[name], `^${range}`].filter(Boolean).join(' || ')];
    if (!versions[name]) throw new Error(`${library.name} depends on ${name}, which is not packed.`);
    return [name, `^${versions[name]}`];
  });
  return {
    name: library.name,
    version: library.version,
    ...(library.description ? { description: library.description } : {}),
    license: workspace.license,
    ...(library.keywords ? { keywords: library.keywords } : {}),
    type: 'module',
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' }, './package.json': './package.json' },
    // For TypeScript's legacy module resolution, which ignores exports.
    main: './dist/index.js',
    types: './dist/index.d.ts',
    files: ['dist'],
    sideEffects: false,
    engines: { node: NODE },
    publishConfig: { access: 'public' },
    ...filled(
      'dependencies',
      ranges.filter(([name]) => !isPeer(name)),
    ),
    ...filled(
      'peerDependencies',
      ranges.filter(([name]) => isPeer(name)),
    ),
  };
}

const filled = (name, ranges) => (ranges.length > 0 ? { [name]: Object.fromEntries(ranges) } : {});

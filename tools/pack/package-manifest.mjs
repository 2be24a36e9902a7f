/** From here on `require()` takes ES modules without a warning, so that CommonJS applications can use them, too. */
const NODE = '>=22.19';

/**
 * What users must have only one of: the framework, the registry that they put series into, and our own libraries, whose
 * classes go from one to the other. A package asks its user for these; everything else it brings along.
 */
const isPeer = (name) =>
  /^@(?:nestjs|headgate)\//.test(name) || ['reflect-metadata', 'rxjs', 'prom-client'].includes(name);

/**
 * The package.json of a packed library: built files instead of sources, version ranges instead of the workspace's `*` and
 * the lock file's exact versions, nothing of the workspace.
 */
export function packageManifest(library, workspace, versions) {
  const ranges = Object.entries(library.dependencies ?? {}).map(([name, range]) => {
    if (range !== '*') return [name, `^${range}`];
    if (!versions[name]) throw new Error(`${library.name} stands on ${name}, which is not packed.`);
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
    // For TypeScript's older ways to resolve a package, which know no exports.
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

const NODE = '>=22.19';

/**
 * What of a dependency's users must have only one of: the framework, and the registry that they put series into. A
 * package asks its user for these; everything else it brings along.
 */
const isPeer = (name) => name.startsWith('@nestjs/') || ['reflect-metadata', 'rxjs', 'prom-client'].includes(name);

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
    type: 'module',
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    files: ['dist'],
    sideEffects: false,
    engines: { node: NODE },
    dependencies: Object.fromEntries(ranges.filter(([name]) => !isPeer(name))),
    peerDependencies: Object.fromEntries(ranges.filter(([name]) => isPeer(name))),
  };
}

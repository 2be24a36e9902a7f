import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
  readonly link?: boolean;
}

interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/**
 * A lockfile for a project outside the workspace. It has the packages of the workspace's lockfile, so that the project
 * gets the same versions, mostly from npm's cache; npm removes those that the project does not need.
 */
export function foreignLockfile(workspace: string, manifest: object): object {
  const { packages } = JSON.parse(readFileSync(join(workspace, 'package-lock.json'), 'utf8')) as Lockfile;
  const registryPackages = Object.entries(packages).filter(
    ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
  );
  return { lockfileVersion: 3, requires: true, packages: { '': manifest, ...Object.fromEntries(registryPackages) } };
}

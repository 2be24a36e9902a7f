// Builds programs of Go modules. Their go.sum has the hash of every module, which Go compares.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runProgram } from './run-program.mjs';

const KUBERNETES = join(import.meta.dirname, 'kubernetes');
/** Linker flags that leave out what only debuggers need. */
const SMALL = '-s -w';
/** Where the archive of a Go release is unpacked; shells without a profile don't have it in their PATH. */
const USUAL_GO = '/usr/local/go/bin/go';

/**
 * A peer that is built without C, from the modules of tools/peers/MODULES.
 * @param {string} name of the program
 * @param {{ modules: string, source: string, variable: string, check: string[], flags?: () => string }} options
 *   `source` is its Go package, `flags` are those of the linker
 * @returns {import('./install.mjs').Peer}
 */
export const goPeer = (name, { modules, source, variable, check, flags = () => SMALL }) => {
  const cwd = join(import.meta.dirname, modules);
  return {
    variable,
    check,
    pins: ['go.mod', 'go.sum'].map((file) => join(cwd, file)),
    program: (folder) => join(folder, 'bin', name),
    build: (folder, env, { timeoutMs } = {}) => {
      const output = join(folder, 'bin', name);
      mkdirSync(dirname(output), { recursive: true });
      const options = ['-trimpath', '-buildvcs=false', '-ldflags', flags()];
      runProgram(findGo(env), ['build', ...options, '-o', output, source], {
        cwd,
        env: { ...env, CGO_ENABLED: '0' },
        timeoutMs,
      });
    },
  };
};

/** @param {string} name @param {{ source: string, variable: string, check: string[] }} options */
export const kubernetesPeer = (name, options) =>
  goPeer(name, { ...options, modules: 'kubernetes', flags: kubernetesVersion });

/** @param {Record<string, string | undefined>} env */
export const findGo = (env) =>
  (env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, 'go'))) || !existsSync(USUAL_GO)
    ? 'go'
    : USUAL_GO;

/** Without them, /version would not name the release. */
function kubernetesVersion() {
  const [version, major, minor] =
    /k8s\.io\/kubernetes v(\d+)\.(\d+)\.\d+/.exec(readFileSync(join(KUBERNETES, 'go.mod'), 'utf8')) ?? [];
  if (!version) throw new Error('tools/peers/kubernetes/go.mod does not require k8s.io/kubernetes.');
  const fields = { gitVersion: version.split(' ')[1], gitMajor: major, gitMinor: minor };
  return [
    SMALL,
    ...Object.entries(fields).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`),
  ].join(' ');
}

// Builds programs of Go modules. Their go.sum has the hash of every module, which Go compares.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runProgram } from './run-program.mjs';

const KUBERNETES = join(import.meta.dirname, 'kubernetes');
/** Where the archive of a Go release is unpacked; shells without a profile don't have it in their PATH. */
const USUAL_GO = '/usr/local/go/bin/go';

/**
 * A peer that is built from tools/peers/kubernetes.
 * @param {string} name of the program
 * @param {{ source: string, variable: string, check: string[] }} options `source` is its Go package
 * @returns {import('./install.mjs').Peer}
 */
export const goPeer = (name, { source, variable, check }) => ({
  variable,
  check,
  pins: ['go.mod', 'go.sum'].map((file) => join(KUBERNETES, file)),
  program: (folder) => join(folder, 'bin', name),
  build: (folder, env) => {
    const output = join(folder, 'bin', name);
    mkdirSync(dirname(output), { recursive: true });
    const options = ['-trimpath', '-buildvcs=false', '-ldflags', linkerFlags()];
    runProgram(findGo(env), ['build', ...options, '-o', output, source], {
      cwd: KUBERNETES,
      env: { ...env, CGO_ENABLED: '0' },
    });
  },
});

/** @param {Record<string, string | undefined>} env */
export const findGo = (env) =>
  (env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, 'go'))) || !existsSync(USUAL_GO)
    ? 'go'
    : USUAL_GO;

/** Without them, /version would not name the release. */
function linkerFlags() {
  const [version, major, minor] =
    /k8s\.io\/kubernetes v(\d+)\.(\d+)\.\d+/.exec(readFileSync(join(KUBERNETES, 'go.mod'), 'utf8')) ?? [];
  if (!version) throw new Error('tools/peers/kubernetes/go.mod does not require k8s.io/kubernetes.');
  const fields = { gitVersion: version.split(' ')[1], gitMajor: major, gitMinor: minor };
  return [
    '-s -w',
    ...Object.entries(fields).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`),
  ].join(' ');
}

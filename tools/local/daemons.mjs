// node tools/local/daemons.mjs start     starts libvirt's daemons on a machine without a service manager; prints JSON
// node tools/local/daemons.mjs stop      stops the daemons that run without a service manager
import { mkdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { findOrphans, recordDaemons } from './daemon-record.mjs';
import { shareKvm } from './kvm-device.mjs';
import { describeMachine, findProgram } from './machine.mjs';
import { endProcess, processOf } from './process.mjs';
import { lastLine, runCommand } from './run-command.mjs';
import { startUnits } from './systemd-units.mjs';

/** @typedef {import('./process.mjs').RunningProcess} RunningProcess */

/**
 * @typedef {object} DaemonPorts
 * @property {import('./run-command.mjs').RunCommand} run
 * @property {(program: string) => string | undefined} find
 * @property {import('./machine.mjs').Machine} machine
 * @property {(line: string) => void} log
 * @property {(socket: string) => Promise<boolean>} isListening whether a process accepts connections on a unix socket
 * @property {(pidFile: string, name: string) => RunningProcess | undefined} processOf
 * @property {(process: RunningProcess, timeoutMs: number) => Promise<boolean>} endProcess
 * @property {(folder: string) => void} createFolder
 * @property {(socket: string) => number} countClients the number of connections to a daemon's socket
 * @property {() => void} shareKvm
 */

/**
 * @typedef {object} DaemonsState
 * @property {string[]} started names of the daemons or units that this call started, or that an earlier run left behind
 * @property {string} [problem] one sentence with the remedy
 * @property {() => Promise<string[]>} stop stops the daemons in `started` that are no longer needed, without affecting
 *   guests; returns the names of those still running
 */

const URI = 'qemu:///system';
const READY_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 10_000;
const IDLE_ATTEMPTS = 5;
const IDLE_PAUSE_MS = 100;

// In start order: libvirtd connects to virtlogd for the log of each guest.
const VIRTLOGD = { name: 'virtlogd', pidFile: '/run/virtlogd.pid', socket: '/run/libvirt/virtlogd-sock' };
const LIBVIRTD = { name: 'libvirtd', pidFile: '/run/libvirtd.pid', socket: '/run/libvirt/libvirt-sock' };
const DAEMONS = [VIRTLOGD, LIBVIRTD];

/**
 * Makes sure that `qemu:///system` responds.
 * @param {DaemonPorts} ports
 * @param {{ dataDir?: string }} [options] a data folder in which the started daemons are recorded, so that the next run
 *   stops them if this one is killed
 * @returns {Promise<DaemonsState>}
 */
export async function ensureDaemons(ports, { dataDir } = {}) {
  const adopted = dataDir ? findOrphans(dataDir) : [];
  if (dataDir && adopted.length > 0) recordDaemons(dataDir, adopted);
  const { machine } = ports;
  const canStartDirectly = machine.root && !machine.systemd;
  if (canStartDirectly) ports.shareKvm();

  const first = await probeLibvirt(ports);
  // libvirtd responds without virtlogd, but then no guest starts.
  if (first.code === 0 && !(canStartDirectly && !(await ports.isListening(VIRTLOGD.socket))))
    return stateOf(ports, adopted, dataDir);
  if (first.missing) return failure('virsh is not installed: install it with `node tools/local/install.mjs`.');
  if (first.timedOut) return failure('libvirtd is running but does not respond: restart it, then try again.');
  if (isPermissionError(first)) {
    return failure(
      'This user may not use libvirt: run `sudo usermod -aG libvirt $USER`, log in again, then try again (or run as root).',
    );
  }
  if (machine.systemd) return startUnits(ports, () => probeLibvirt(ports));
  if (canStartDirectly) return startDirectly(ports, adopted, dataDir);
  return failure('libvirtd is not running and only root can start it: run `sudo virtlogd -d; sudo libvirtd -d`.');
}

/**
 * @param {DaemonPorts} ports
 * @param {RunningProcess[]} adopted
 * @param {string} [dataDir]
 */
async function startDirectly(ports, adopted, dataDir) {
  /** @type {RunningProcess[]} */
  const started = [];
  /** @param {string} problem */
  const giveUp = async (problem) => {
    // The daemons have just been started, so no guest depends on them.
    for (const daemon of started.toReversed()) await ports.endProcess(daemon, STOP_TIMEOUT_MS);
    if (dataDir) recordDaemons(dataDir, adopted);
    return failure(problem);
  };

  // Normally the service manager creates these folders; the daemons exit without them.
  for (const folder of ['/run/libvirt', '/var/log/libvirt', '/var/lib/libvirt']) ports.createFolder(folder);
  for (const daemon of DAEMONS) {
    if (await ports.isListening(daemon.socket)) continue;
    const program = ports.find(daemon.name);
    if (!program) return giveUp(`${daemon.name} is not installed: install it with \`node tools/local/install.mjs\`.`);
    ports.log(`Starting ${daemon.name} …`);
    const result = await ports.run(program, ['-d', '-p', daemon.pidFile], { timeoutMs: READY_TIMEOUT_MS });
    const process = ports.processOf(daemon.pidFile, daemon.name);
    if (process) started.push(process);
    if (dataDir) recordDaemons(dataDir, [...adopted, ...started]);
    if (result.code !== 0 || !process || !(await waitUntilReady(ports, daemon))) {
      return giveUp(`${daemon.name} exited during startup (${await startupError(ports, daemon.name, result)}).`);
    }
  }
  const response = await probeLibvirt(ports);
  if (response.code !== 0) return giveUp(`libvirtd was started but does not respond (${lastLine(response)}).`);
  return stateOf(ports, [...adopted, ...started], dataDir);
}

/**
 * Waits until the daemon's socket accepts connections; gives up if the process exits.
 * @param {DaemonPorts} ports
 * @param {{ name: string, pidFile: string, socket: string }} daemon
 */
async function waitUntilReady(ports, { name, pidFile, socket }) {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (await ports.isListening(socket)) return true;
    if (!ports.processOf(pidFile, name)) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

/**
 * @param {DaemonPorts} ports
 * @param {string} name
 * @param {import('./run-command.mjs').CommandResult} result
 */
async function startupError(ports, name, result) {
  if (result.code !== 0) return lastLine(result);
  const log = await ports.run('tail', ['-n', '20', `/var/log/libvirt/${name}.log`], { timeoutMs: 5_000 });
  const errors = log.stdout.split('\n').filter((line) => line.includes(': error :'));
  return errors.at(-1)?.replace(/^.*: error : \S+ : /, '') ?? `see /var/log/libvirt/${name}.log`;
}

/**
 * @param {DaemonPorts} ports
 * @param {RunningProcess[]} started
 * @param {string} [dataDir]
 * @returns {DaemonsState}
 */
function stateOf(ports, started, dataDir) {
  return {
    started: started.map(({ name }) => name),
    stop: async () => {
      const left = await stopDaemons(ports, started);
      // If nothing was started, an existing record belongs to another run.
      if (dataDir && started.length > 0) recordDaemons(dataDir, left);
      return left.map(({ name }) => name);
    },
  };
}

/**
 * Stops daemons that no other program is connected to, in reverse order. Guests keep running without libvirtd, which
 * finds them again when it starts. virtlogd keeps running while there are guests: it holds the other end of their log
 * pipes, which can't be replaced.
 * @param {DaemonPorts} ports
 * @param {RunningProcess[]} daemons
 * @returns {Promise<RunningProcess[]>} those still running
 */
async function stopDaemons(ports, daemons) {
  const guests = daemons.length > 0 ? await runningGuests(ports) : 0;
  const left = [];
  for (const daemon of daemons.toReversed()) {
    const socket = DAEMONS.find(({ name }) => name === daemon.name)?.socket;
    // A libvirtd that keeps running needs virtlogd to start guests.
    if (daemon.name === 'virtlogd' && (guests > 0 || left.length > 0)) left.push(daemon);
    else if (socket && (await isInUse(ports, socket))) left.push(daemon);
    else if (!(await ports.endProcess(daemon, STOP_TIMEOUT_MS))) left.push(daemon);
  }
  return left;
}

/**
 * Whether programs stay connected to a daemon. A connection that was closed a moment ago may still be listed.
 * @param {DaemonPorts} ports
 * @param {string} socket
 */
async function isInUse(ports, socket) {
  for (let attempt = 1; ports.countClients(socket) > 0; attempt++) {
    if (attempt === IDLE_ATTEMPTS) return true;
    await new Promise((resolve) => setTimeout(resolve, IDLE_PAUSE_MS));
  }
  return false;
}

/** @param {DaemonPorts} ports */
async function runningGuests({ run }) {
  const result = await run('virsh', ['-q', '-c', URI, 'list', '--name'], { timeoutMs: 5_000 });
  // If libvirt does not respond, assume that guests are running.
  if (result.code !== 0) return Infinity;
  return result.stdout.split('\n').filter((line) => line.trim() !== '').length;
}

/** @param {DaemonPorts} ports */
const probeLibvirt = ({ run }) => run('virsh', ['-c', URI, 'uri'], { timeoutMs: 10_000 });

/** @param {import('./run-command.mjs').CommandResult} result */
const isPermissionError = ({ stderr }) =>
  /permission denied|authentication (failed|unavailable)|access denied/i.test(stderr);

/**
 * @param {string} problem
 * @returns {DaemonsState}
 */
const failure = (problem) => ({ started: [], problem, stop: async () => [] });

/**
 * Whether a process accepts connections on a unix socket.
 * @param {string} path
 * @returns {Promise<boolean>}
 */
export function isListening(path) {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/**
 * The number of established connections to a unix socket and to those next to it, such as `libvirt-sock-ro`.
 * @param {string} table the content of /proc/net/unix, see proc(5); state 3 is connected
 * @param {string} socket
 * @returns {number}
 */
export const countConnections = (table, socket) =>
  table.split('\n').filter((line) => {
    const [, , , , , state, , path = ''] = line.trim().split(/\s+/);
    return state === '03' && path.startsWith(socket);
  }).length;

/**
 * The ports of this machine.
 * @param {(line: string) => void} log
 * @returns {Promise<DaemonPorts>}
 */
export const daemonPorts = async (log) => ({
  run: runCommand,
  find: findProgram,
  machine: await describeMachine(),
  log,
  isListening,
  countClients: (socket) => countConnections(readFileSync('/proc/net/unix', 'utf8'), socket),
  processOf,
  endProcess,
  createFolder: (folder) => mkdirSync(folder, { recursive: true }),
  shareKvm: () => shareKvm(log),
});

if (process.argv[1] === import.meta.filename) {
  const ports = await daemonPorts((line) => console.error(line));
  if (process.argv[2] === 'stop') {
    const running = DAEMONS.map(({ pidFile, name }) => processOf(pidFile, name)).filter(
      (daemon) => daemon !== undefined,
    );
    const left = await stopDaemons(ports, running);
    console.log(JSON.stringify({ left: left.map(({ name }) => name) }));
  } else {
    const { started, problem } = await ensureDaemons(ports);
    console.log(JSON.stringify({ started, problem }));
    process.exitCode = problem ? 1 : 0;
  }
}

// node tools/local/daemons.mjs start     starts what libvirt needs where no service manager does; prints JSON
// node tools/local/daemons.mjs stop      ends the daemons that run here without a service manager
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { note, noteOf } from './daemon-note.mjs';
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
 * @property {(socket: string) => Promise<boolean>} answers whether something listens on a unix socket
 * @property {(pidFile: string, name: string) => RunningProcess | undefined} processOf
 * @property {(process: RunningProcess, timeoutMs: number) => Promise<boolean>} endProcess
 * @property {(folder: string) => void} makeFolder
 * @property {() => void} shareKvm
 */

/**
 * @typedef {object} DaemonsState
 * @property {string[]} started names of the daemons or units that this call started, or that an earlier run, now gone, left behind
 * @property {string} [problem] one sentence that says what to do
 * @property {() => Promise<string[]>} stop ends those of `started` that are not needed any more; no guest is touched; tells what it left running
 */

const URI = 'qemu:///system';
const READY_TIMEOUT_MS = 20_000;
const END_TIMEOUT_MS = 10_000;

// In the order of their start: libvirtd asks virtlogd for each guest's log.
const VIRTLOGD = { name: 'virtlogd', pidFile: '/run/virtlogd.pid', socket: '/run/libvirt/virtlogd-sock' };
const LIBVIRTD = { name: 'libvirtd', pidFile: '/run/libvirtd.pid', socket: '/run/libvirt/libvirt-sock' };
const DAEMONS = [VIRTLOGD, LIBVIRTD];

/**
 * Sees to it that `qemu:///system` answers.
 * @param {DaemonPorts} ports
 * @param {{ dataDir?: string }} [options] with a data folder, the daemons started are noted there, so that the next run
 *   ends them when this one could not
 * @returns {Promise<DaemonsState>}
 */
export async function ensureDaemons(ports, { dataDir } = {}) {
  const adopted = dataDir ? noteOf(dataDir) : [];
  if (dataDir && adopted.length > 0) note(dataDir, adopted);
  const { machine } = ports;
  const direct = machine.root && !machine.systemd;
  if (direct) ports.shareKvm();

  const first = await askLibvirt(ports);
  // libvirtd answers without virtlogd, but then no guest starts.
  if (first.code === 0 && !(direct && !(await ports.answers(VIRTLOGD.socket)))) return stateOf(ports, adopted, dataDir);
  if (first.missing) return refused('virsh is missing: install it with `node tools/local/install.mjs`.');
  if (first.timedOut) return refused('libvirtd runs but does not answer: restart it, then try again.');
  if (isRefusal(first)) {
    return refused(
      'This user may not use libvirt: type `sudo usermod -aG libvirt $USER`, log in again, then try again (or run as root).',
    );
  }
  if (machine.systemd) return startUnits(ports, () => askLibvirt(ports));
  if (direct) return startDirectly(ports, adopted, dataDir);
  return refused('libvirtd is not running and only root can start it: type `sudo virtlogd -d; sudo libvirtd -d`.');
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
    // No guest can need what was started a moment ago.
    for (const daemon of started.toReversed()) await ports.endProcess(daemon, END_TIMEOUT_MS);
    if (dataDir) note(dataDir, adopted);
    return refused(problem);
  };

  // Packages leave these to the service manager; without them the daemons end at once.
  for (const folder of ['/run/libvirt', '/var/log/libvirt', '/var/lib/libvirt']) ports.makeFolder(folder);
  for (const daemon of DAEMONS) {
    if (await ports.answers(daemon.socket)) continue;
    const program = ports.find(daemon.name);
    if (!program) return giveUp(`${daemon.name} is missing: install it with \`node tools/local/install.mjs\`.`);
    ports.log(`Starting ${daemon.name} …`);
    const result = await ports.run(program, ['-d', '-p', daemon.pidFile], { timeoutMs: READY_TIMEOUT_MS });
    const process = ports.processOf(daemon.pidFile, daemon.name);
    if (process) started.push(process);
    if (dataDir) note(dataDir, [...adopted, ...started]);
    if (result.code !== 0 || !process || !(await untilReady(ports, daemon))) {
      return giveUp(`${daemon.name} ended at its start (${await whyItEnded(ports, daemon.name, result)}).`);
    }
  }
  const answer = await askLibvirt(ports);
  if (answer.code !== 0) return giveUp(`libvirtd was started but does not answer (${lastLine(answer)}).`);
  return stateOf(ports, [...adopted, ...started], dataDir);
}

/**
 * A daemon is ready when its socket takes a connection; one that ends before that never will be.
 * @param {DaemonPorts} ports
 * @param {{ name: string, pidFile: string, socket: string }} daemon
 */
async function untilReady(ports, { name, pidFile, socket }) {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (await ports.answers(socket)) return true;
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
async function whyItEnded(ports, name, result) {
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
      const left = await endDaemons(ports, started);
      // Where nothing was started, a note is another run's.
      if (dataDir && started.length > 0) note(dataDir, left);
      return left.map(({ name }) => name);
    },
  };
}

/**
 * Ends daemons in reverse order. Guests go on without libvirtd, which finds them again at its next start. virtlogd stays
 * while a guest runs: it holds the other end of the guest's log, and a guest cannot be given a new one.
 * @param {DaemonPorts} ports
 * @param {RunningProcess[]} daemons
 * @returns {Promise<RunningProcess[]>} those still running
 */
async function endDaemons(ports, daemons) {
  const guests = daemons.length > 0 ? await runningGuests(ports) : 0;
  const left = [];
  for (const daemon of daemons.toReversed()) {
    if (daemon.name === 'virtlogd' && guests > 0) left.push(daemon);
    else if (!(await ports.endProcess(daemon, END_TIMEOUT_MS))) left.push(daemon);
  }
  return left;
}

/** @param {DaemonPorts} ports */
async function runningGuests({ run }) {
  const result = await run('virsh', ['-q', '-c', URI, 'list', '--name'], { timeoutMs: 5_000 });
  // Without an answer, guests may well run: then nothing that a guest needs is ended.
  if (result.code !== 0) return Infinity;
  return result.stdout.split('\n').filter((line) => line.trim() !== '').length;
}

/** @param {DaemonPorts} ports */
const askLibvirt = ({ run }) => run('virsh', ['-c', URI, 'uri'], { timeoutMs: 10_000 });

/** @param {import('./run-command.mjs').CommandResult} result */
const isRefusal = ({ stderr }) => /permission denied|authentication (failed|unavailable)|access denied/i.test(stderr);

/**
 * @param {string} problem
 * @returns {DaemonsState}
 */
const refused = (problem) => ({ started: [], problem, stop: async () => [] });

/**
 * Whether something accepts connections on a unix socket.
 * @param {string} path
 * @returns {Promise<boolean>}
 */
export function answers(path) {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/**
 * The ports of this very machine.
 * @param {(line: string) => void} log
 * @returns {Promise<DaemonPorts>}
 */
export const daemonPorts = async (log) => ({
  run: runCommand,
  find: findProgram,
  machine: await describeMachine(),
  log,
  answers,
  processOf,
  endProcess,
  makeFolder: (folder) => mkdirSync(folder, { recursive: true }),
  shareKvm: () => shareKvm(log),
});

if (process.argv[1] === import.meta.filename) {
  const ports = await daemonPorts((line) => console.error(line));
  if (process.argv[2] === 'stop') {
    const running = DAEMONS.map(({ pidFile, name }) => processOf(pidFile, name)).filter(
      (daemon) => daemon !== undefined,
    );
    const left = await endDaemons(ports, running);
    console.log(JSON.stringify({ left: left.map(({ name }) => name) }));
  } else {
    const { started, problem } = await ensureDaemons(ports);
    console.log(JSON.stringify({ started, problem }));
    process.exitCode = problem ? 1 : 0;
  }
}

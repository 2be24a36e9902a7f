// node tools/local/prepare-local.mjs [--data-dir DIR]    prepares this machine; prints what it found as JSON
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildTinyGuest } from '../tiny-guest/build.mjs';
import { cacheDir } from './cache-dir.mjs';
import { daemonPorts, ensureDaemons } from './daemons.mjs';
import { installMissing, installPorts } from './install.mjs';
import { probeKvm } from './kvm-probe.mjs';

/**
 * @typedef {object} LocalMachine
 * @property {boolean} ok whether virtual machines can run here
 * @property {string[]} problems what keeps them from it, each one sentence that says what to do
 * @property {string[]} warnings what they run without, likewise
 * @property {'kvm' | 'tcg'} accelerator
 * @property {string} [tinyGuestPath] a qcow2; absent when it could not be built
 * @property {string} [tinyGuestVersion]
 * @property {string[]} installed packages
 * @property {string[]} started daemons
 * @property {() => Promise<string[]>} stop ends the daemons that nothing needs any more, and no guest; tells those it left
 */

/**
 * The steps, so that a test can put others in their place.
 * @typedef {object} Steps
 * @property {() => Promise<{ installed: string[], problem?: string }>} install
 * @property {() => Promise<import('./daemons.mjs').DaemonsState>} startDaemons
 * @property {() => Promise<import('./kvm-probe.mjs').KvmAnswer>} probe
 * @property {() => Promise<{ path: string, version: string }>} buildGuest
 */

/**
 * Makes this machine ready for real virtual machines: QEMU and libvirt installed and answering, KVM tried, the tiny guest
 * built. A machine that is ready already is done in a fraction of a second.
 * @param {{ log: (line: string) => void, dataDir: string, steps?: Partial<Steps> }} options
 * @returns {Promise<LocalMachine>}
 */
export async function prepareLocal({ log, dataDir, steps = {} }) {
  const { install, startDaemons, probe, buildGuest } = { ...realSteps(log, dataDir), ...steps };
  /** @type {LocalMachine} */
  const machine = {
    ok: false,
    problems: [],
    warnings: [],
    accelerator: 'tcg',
    installed: [],
    started: [],
    stop: async () => [],
  };

  const { installed, problem } = await install();
  machine.installed = installed;
  if (problem) return { ...machine, problems: [problem] };

  const daemons = await startDaemons();
  machine.started = daemons.started;
  machine.stop = daemons.stop;
  if (daemons.problem) return { ...machine, problems: [daemons.problem] };

  // Neither needs the other, and each takes seconds the first time.
  const [kvm, guest] = await Promise.all([probe(), buildGuest().catch(asError)]);
  machine.ok = true;
  machine.accelerator = kvm.usable ? 'kvm' : 'tcg';
  if (!kvm.usable) machine.warnings.push(`Guests run in software emulation, which is slow: ${kvm.reason}`);
  if (guest instanceof Error) machine.warnings.push(`The tiny guest is not there: ${guest.message}`);
  else {
    machine.tinyGuestPath = guest.path;
    machine.tinyGuestVersion = guest.version;
  }
  return machine;
}

/** @param {unknown} error */
const asError = (error) => (error instanceof Error ? error : new Error(String(error)));

/**
 * @param {(line: string) => void} log
 * @param {string} dataDir
 * @returns {Steps}
 */
const realSteps = (log, dataDir) => ({
  install: async () => installMissing(await installPorts(log)),
  startDaemons: async () => ensureDaemons(await daemonPorts(log), { dataDir }),
  probe: () => probeKvm({ directory: cacheDir() }),
  buildGuest: () => buildTinyGuest({ cacheDir: cacheDir(), log }),
});

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: { 'data-dir': { type: 'string', default: join(homedir(), '.local/share/headgate') } },
  });
  const { stop: _, ...machine } = await prepareLocal({
    log: (line) => console.error(line),
    dataDir: values['data-dir'],
  });
  console.log(JSON.stringify(machine, null, 2));
  process.exitCode = machine.ok ? 0 : 1;
}

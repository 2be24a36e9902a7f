// node tools/local/prepare-local.mjs [--data-dir DIR]    prepares this machine; prints the result as JSON
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildReaderGuest } from '../reader-guest/build.mjs';
import { buildTinyGuest } from '../tiny-guest/build.mjs';
import { cacheDir } from './cache-dir.mjs';
import { containerPorts, ensureContainers } from './containers.mjs';
import { daemonPorts, ensureDaemons } from './daemons.mjs';
import { installMissing, installPorts } from './install.mjs';
import { probeKvm } from './kvm-probe.mjs';

/**
 * @typedef {object} LocalMachine
 * @property {boolean} ok whether virtual machines can run here
 * @property {string[]} problems reasons why they can't, one sentence with a remedy each
 * @property {string[]} warnings limitations, one sentence each
 * @property {'kvm' | 'tcg'} accelerator
 * @property {string} [tinyGuestPath] a qcow2; absent when it could not be built
 * @property {string} [tinyGuestVersion]
 * @property {string} [readerGuestPath] a folder; absent when it could not be built
 * @property {string} [containersSocket] of an engine of containers; absent when there is none
 * @property {string[]} installed packages
 * @property {string[]} started daemons
 * @property {() => Promise<string[]>} stop stops the daemons that are no longer needed, without affecting guests;
 *   returns the names of those still running
 */

/**
 * The steps, which a test can replace.
 * @typedef {object} Steps
 * @property {() => Promise<{ installed: string[], problem?: string, warning?: string }>} install
 * @property {() => Promise<import('./daemons.mjs').DaemonsState>} startDaemons
 * @property {() => Promise<import('./kvm-probe.mjs').KvmResult>} probe
 * @property {() => Promise<{ path: string, version: string }>} buildGuest
 * @property {() => Promise<{ folder: string }>} buildReader
 * @property {() => Promise<import('./containers.mjs').ContainerEngine>} startContainers
 */

/**
 * Prepares this machine for real virtual machines: installs and starts QEMU and libvirt, probes KVM, builds the tiny
 * guest, and finds or starts an engine of containers. On a machine that is ready, this takes a fraction of a second.
 * @param {{ log: (line: string) => void, dataDir: string, steps?: Partial<Steps> }} options
 * @returns {Promise<LocalMachine>}
 */
export async function prepareLocal({ log, dataDir, steps = {} }) {
  const { install, startDaemons, probe, buildGuest, buildReader, startContainers } = {
    ...realSteps(log, dataDir),
    ...steps,
  };
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

  const { installed, problem, warning } = await install();
  machine.installed = installed;
  if (warning) machine.warnings.push(warning);
  if (problem) return { ...machine, problems: [problem] };

  const daemons = await startDaemons();
  machine.started = daemons.started;
  machine.stop = daemons.stop;
  if (daemons.problem) return { ...machine, problems: [daemons.problem] };

  const containers = await startContainers();
  machine.installed = [...installed, ...containers.installed];
  machine.started = [...daemons.started, ...containers.started];
  machine.containersSocket = containers.socket;
  machine.stop = async () => [...(await containers.stop()), ...(await daemons.stop())];
  if (containers.warning) machine.warnings.push(containers.warning);

  // Independent of each other, and slow the first time.
  const [kvm, guest] = await Promise.all([probe(), buildGuest().catch(asError)]);
  machine.ok = true;
  machine.accelerator = kvm.usable ? 'kvm' : 'tcg';
  if (!kvm.usable) machine.warnings.push(`VMs use software emulation, which is slow: ${kvm.reason}`);
  if (guest instanceof Error) machine.warnings.push(`The tiny guest is not available: ${guest.message}`);
  else {
    machine.tinyGuestPath = guest.path;
    machine.tinyGuestVersion = guest.version;
  }
  // After the other one, which uses the same cache of packages.
  const reader = await buildReader().catch(asError);
  if (reader instanceof Error) machine.warnings.push(`Files in backups can't be read: ${reader.message}`);
  else machine.readerGuestPath = reader.folder;
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
  buildReader: () => buildReaderGuest({ cacheDir: cacheDir(), log }),
  startContainers: async () => ensureContainers(await containerPorts(log), { dataDir }),
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

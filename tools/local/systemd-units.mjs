import { lastLine } from './run-command.mjs';

/** The units of the monolithic daemon (Debian, Ubuntu), then those of the modular daemons (Fedora). */
const UNIT_SETS = [
  ['virtlogd.socket', 'libvirtd.socket', 'libvirtd.service'],
  [
    'virtlogd.socket',
    'virtqemud.socket',
    'virtstoraged.socket',
    'virtnetworkd.socket',
    'virtnodedevd.socket',
    'virtsecretd.socket',
  ],
];

/**
 * Starts libvirt's units. systemd manages them from then on: stopping them could trigger a unit that shuts guests down.
 * @param {Pick<import('./daemons.mjs').DaemonPorts, 'run' | 'machine' | 'log'>} ports
 * @param {() => Promise<import('./run-command.mjs').CommandResult>} probeLibvirt
 * @returns {Promise<import('./daemons.mjs').DaemonsState>}
 */
export async function startUnits({ run, machine, log }, probeLibvirt) {
  const stop = async () => [];
  const units = await installedUnits(run);
  if (units.length === 0) {
    return {
      started: [],
      problem: 'systemd has no libvirt unit: install libvirt with `node tools/local/install.mjs`.',
      stop,
    };
  }
  const command = ['systemctl', 'start', ...units];
  if (!machine.elevate) {
    return { started: [], problem: `libvirt is stopped: run \`sudo ${command.join(' ')}\`, then try again.`, stop };
  }
  log(`Starting ${units.join(', ')} …`);
  const [file, ...args] = [...machine.elevate, ...command];
  const result = await run(/** @type {string} */ (file), args, { timeoutMs: 60_000 });
  const response = await probeLibvirt();
  if (result.code === 0 && response.code === 0) return { started: units, stop };
  const reason = lastLine(result.code === 0 ? response : result);
  return {
    started: [],
    problem: `libvirt did not start (${reason}): run \`journalctl -u libvirtd -u virtqemud -n 20\` for details.`,
    stop,
  };
}

/**
 * The installed units of the first set that exists on this machine.
 * @param {import('./run-command.mjs').RunCommand} run
 */
async function installedUnits(run) {
  for (const units of UNIT_SETS) {
    const listed = await run('systemctl', ['list-unit-files', '--no-legend', ...units], { timeoutMs: 10_000 });
    const known = units.filter((unit) => listed.stdout.split('\n').some((line) => line.trim().startsWith(`${unit} `)));
    if (known.includes(/** @type {string} */ (units[1]))) return known;
  }
  return [];
}

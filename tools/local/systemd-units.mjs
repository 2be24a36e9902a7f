import { lastLine } from './run-command.mjs';

/** The one daemon of Debian and Ubuntu, then the daemons per driver of Fedora. */
const UNITS = [
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
 * Starts libvirt's units. They belong to systemd from then on: nothing here ends them, so no guest-shutdown unit that
 * hangs on them is ever pulled along.
 * @param {Pick<import('./daemons.mjs').DaemonPorts, 'run' | 'machine' | 'log'>} ports
 * @param {() => Promise<import('./run-command.mjs').CommandResult>} askLibvirt
 * @returns {Promise<import('./daemons.mjs').DaemonsState>}
 */
export async function startUnits({ run, machine, log }, askLibvirt) {
  const stop = async () => [];
  const units = await installedUnits(run);
  if (units.length === 0) {
    return {
      started: [],
      problem: 'systemd knows no libvirt unit: install libvirt with `node tools/local/install.mjs`.',
      stop,
    };
  }
  const command = ['systemctl', 'start', ...units];
  if (!machine.elevate) {
    return { started: [], problem: `libvirt is stopped: type \`sudo ${command.join(' ')}\`, then try again.`, stop };
  }
  log(`Starting ${units.join(', ')} …`);
  const [file, ...args] = [...machine.elevate, ...command];
  const result = await run(/** @type {string} */ (file), args, { timeoutMs: 60_000 });
  const answer = await askLibvirt();
  if (result.code === 0 && answer.code === 0) return { started: units, stop };
  const why = lastLine(result.code === 0 ? answer : result);
  return {
    started: [],
    problem: `libvirt did not start (${why}): type \`journalctl -u libvirtd -u virtqemud -n 20\` to see why.`,
    stop,
  };
}

/**
 * The units of the first flavour of libvirt that is installed; of Fedora's drivers, those that are.
 * @param {import('./run-command.mjs').RunCommand} run
 */
async function installedUnits(run) {
  for (const flavour of UNITS) {
    const listed = await run('systemctl', ['list-unit-files', '--no-legend', ...flavour], { timeoutMs: 10_000 });
    const known = flavour.filter((unit) =>
      listed.stdout.split('\n').some((line) => line.trim().startsWith(`${unit} `)),
    );
    if (known.includes(/** @type {string} */ (flavour[1]))) return known;
  }
  return [];
}

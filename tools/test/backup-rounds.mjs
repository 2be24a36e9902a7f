// npm run test:backups -- [--rounds N] [--every SECONDS]: backs up a guest that writes numbered records, by default 20
// times and every 10 seconds, and restores each backup. Exits with 1 if one has a hole. Needs root, QEMU and libvirt.
import { parseArgs } from 'node:util';
import { ensureInstalled, say } from '../start/workspace.mjs';
import { runSpec } from './run-spec.mjs';

const MAX_ROUNDS = 1000;
const MAX_SECONDS = 3600;
const USAGE = 'Usage: npm run test:backups -- [--rounds 1-1000] [--every 0-3600]';

/** Exits with 2 and the usage for anything but a whole number between the limits. */
function numberOf(text, least, most) {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  say(USAGE);
  process.exit(2);
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { rounds: { type: 'string', default: '20' }, every: { type: 'string', default: '10' } },
    });
    return { rounds: numberOf(values.rounds, 1, MAX_ROUNDS), every: numberOf(values.every, 0, MAX_SECONDS) };
  } catch (error) {
    say(`${error.message}\n${USAGE}`);
    return process.exit(2);
  }
}

const { rounds, every } = readOptions();
await ensureInstalled();
const isPassed = await runSpec(
  'src/backups/backup-rounds.int.spec.ts',
  { HEADGATE_TEST_BACKUP_ROUNDS: String(rounds), HEADGATE_TEST_BACKUP_SECONDS: String(every) },
  { args: ['-c', 'jest.int.config.js'] },
);
process.exit(isPassed ? 0 : 1);

// npm run test:workers -- [--rounds N]: sends 1,000 parallel guesses to a gateway whose workers are killed, that many
// times, by default 20. Exits with 1 if more or fewer than 5 of them passed in any round.
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, say } from '../start/workspace.mjs';
import { runSpec } from './run-spec.mjs';

const MAX_ROUNDS = 10_000;
const USAGE = 'Usage: npm run test:workers -- [--rounds 1-10000]';

function readRounds() {
  try {
    const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } });
    const rounds = /^\d+$/.test(values.rounds) ? Number(values.rounds) : NaN;
    if (rounds >= 1 && rounds <= MAX_ROUNDS) return rounds;
    throw new Error('The number of rounds is invalid.');
  } catch (error) {
    say(`${error.message}\n${USAGE}`);
    return process.exit(2);
  }
}

const rounds = readRounds();
await ensureInstalled();
await ensureBuilt(['@headgate/homeserver-limits']);
const isPassed = await runSpec(
  'src/workers.spec.ts',
  { HEADGATE_TEST_WORKER_ROUNDS: String(rounds) },
  { project: 'apps/homeserver-limits-e2e', args: ['-t', 'of 1,000 parallel guesses'] },
);
process.exit(isPassed ? 0 : 1);

// npm run test:replicas -- [--rounds N] [--seed N] [--store real]: kills three replicas of the service in turn for that
// many rounds, by default 100, in one run. With `real`, their store is in a real API server, which tools/peers has
// built. Exits with 1 if they disagreed, or ran anything twice.
import { parseArgs } from 'node:util';
import { ensureInstalled, say } from '../start/workspace.mjs';
import { runSpec } from './run-spec.mjs';

const MAX_ROUNDS = 10_000;
const MAX_SEED = 4_294_967_295;
const USAGE = 'Usage: npm run test:replicas -- [--rounds 1-10000] [--seed 0-4294967295] [--store simulated|real]';

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
      options: {
        rounds: { type: 'string', default: '100' },
        seed: { type: 'string', default: '1' },
        store: { type: 'string', default: 'simulated' },
      },
    });
    if (!['simulated', 'real'].includes(values.store)) throw new Error(`The store "${values.store}" is unknown.`);
    return {
      store: values.store,
      rounds: numberOf(values.rounds, 1, MAX_ROUNDS),
      seed: numberOf(values.seed, 0, MAX_SEED),
    };
  } catch (error) {
    say(`${error.message}\n${USAGE}`);
    return process.exit(2);
  }
}

const { rounds, seed, store } = readOptions();
await ensureInstalled();
const isPassed = await runSpec('src/testing/replicas/replicas.stress.spec.ts', {
  HEADGATE_TEST_REPLICA_ROUNDS: String(rounds),
  HEADGATE_TEST_REPLICA_SEED: String(seed),
  HEADGATE_TEST_REPLICA_STORE: store,
});
process.exit(isPassed ? 0 : 1);

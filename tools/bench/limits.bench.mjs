// Compares limits-core with three well-known in-memory limiters. Run alone: node tools/bench/limits.bench.mjs
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OURS = 'limits-core';
const GCRA = 'limits-core, gcra';
/** The floor: no protection, no growth, no eviction. */
const FLOOR = 'typed table';
const TIMES_SLOWER = 1.3;
const OTHERS = ['rate-limiter-flexible', 'express-rate-limit', '@nestjs/throttler'];
const ROUNDS = 3;
const TIMES_FASTER = 3;
const BYTES_PER_KEY = 40;

// A young generation too large for the measurement itself to fill, so that only garbage of the contenders is collected.
const YOUNG_GENERATION_FLAGS = ['--min-semi-space-size=256', '--max-semi-space-size=256'];

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Each measurement runs in its own process, so that no contender pays for the garbage of another. */
function measure(contender, scenario) {
  const script = join(import.meta.dirname, 'limits/measure.mjs');
  const args = [
    '--expose-gc',
    '--max-old-space-size=6144',
    ...YOUNG_GENERATION_FLAGS,
    '--disable-warning=ExperimentalWarning',
    script,
  ];
  return JSON.parse(execFileSync(process.execPath, [...args, contender, scenario], { encoding: 'utf8' }));
}

/** Medians over rounds in which the contenders take turns, so that other load on the machine affects all of them. */
function compare(scenario, names = [OURS, ...OTHERS], rounds = ROUNDS) {
  const answers = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) answers[name].push(measure(name, scenario));
  }
  return Object.fromEntries(
    names.map((name) => {
      const figures = Object.keys(answers[name][0]);
      return [
        name,
        Object.fromEntries(figures.map((key) => [key, median(answers[name].map((answer) => answer[key]))])),
      ];
    }),
  );
}

const others = (what, figures, key, unit) =>
  OTHERS.map((name) => ({ what: `${what}: ${name}`, value: figures[name][key], unit }));

function speedRows(what, figures, key) {
  const fastest = Math.min(...OTHERS.map((name) => figures[name][key]));
  const ratio = fastest / figures[OURS][key];
  return [
    { what: `${what}: ${OURS}`, value: figures[OURS][key], unit: 'ns', ratio },
    ...others(what, figures, key, 'ns'),
  ];
}

function withTarget([ours, ...rest]) {
  return [{ ...ours, target: `${TIMES_FASTER} times the fastest`, ok: ours.ratio >= TIMES_FASTER }, ...rest];
}

/** How many times the floor's time a decision takes. */
function floorRow(what, figures, key) {
  const ratio = figures[OURS][key] / figures[FLOOR][key];
  return {
    what: `${what}: ${FLOOR} (ratio: ${OURS} to it)`,
    value: figures[FLOOR][key],
    unit: 'ns',
    ratio,
    target: `at most ${TIMES_SLOWER}`,
    ok: ratio <= TIMES_SLOWER,
  };
}

/**
 * The machine pauses an empty loop as well. Decisions take a known part of the time, so that part of the pauses is the
 * machine's. Three standard deviations more may be chance.
 */
function pausesRow(name, seen, expected) {
  const most = expected + 3 * Math.sqrt(expected + 1);
  return {
    what: `decisions of 1,500,000 that took over 1 ms: ${name} (ratio: to the machine's own pauses in that time)`,
    value: seen,
    unit: '',
    ratio: seen / Math.max(1, expected),
    target: `at most ${most.toFixed(0)}, which is the machine's own`,
    ok: seen <= most,
  };
}

export default async function run() {
  const oneKey = compare('oneKey');
  const manyKeys = compare('manyKeys', [OURS, FLOOR, ...OTHERS]);
  const bytes = compare('bytesPerKey', [OURS, ...OTHERS], 1);
  const pauses = { ...compare('pauses', OTHERS, 1), ...compare('pauses', [OURS]) };
  const { p50, p999, p9999, longest, idle, pauses: seen, expectedPauses } = pauses[OURS];
  const gcra = {
    oneKey: compare('oneKey', [GCRA], 1)[GCRA],
    manyKeys: compare('manyKeys', [GCRA], 1)[GCRA],
    pauses: compare('pauses', [GCRA], 1)[GCRA],
  };
  const ours = bytes[OURS].bytes;
  return {
    name: 'limits',
    rows: [
      ...withTarget(speedRows('a decision, 1 key', oneKey, 'ns')),
      ...withTarget(speedRows('a decision, 1,000,000 keys twice', manyKeys, 'bothNs')),
      ...speedRows('of these, new keys', manyKeys, 'firstNs'),
      floorRow('of these, new keys', manyKeys, 'firstNs'),
      ...speedRows('of these, known keys', manyKeys, 'againNs'),
      floorRow('of these, known keys', manyKeys, 'againNs'),
      {
        what: `memory per key: ${OURS}`,
        value: ours,
        unit: 'bytes',
        target: `at most ${BYTES_PER_KEY}`,
        ok: ours <= BYTES_PER_KEY,
      },
      ...others('memory per key', bytes, 'bytes', 'bytes'),
      { what: `a decision while windows open and close, median: ${OURS}`, value: p50, unit: 'µs' },
      { what: `99.9th percentile: ${OURS}`, value: p999, unit: 'µs', target: 'at most 100', ok: p999 <= 100 },
      ...others('99.9th percentile', pauses, 'p999', 'µs'),
      { what: `99.99th percentile: ${OURS}`, value: p9999, unit: 'µs' },
      pausesRow(OURS, seen, expectedPauses),
      { what: `longest pause: ${OURS}`, value: longest, unit: 'µs' },
      { what: 'longest pause: an empty loop in the same time', value: idle, unit: 'µs' },
      ...others('longest pause', pauses, 'longest', 'µs'),
      { what: `a decision, 1 key: ${GCRA}`, value: gcra.oneKey.ns, unit: 'ns' },
      { what: `a decision, 1,000,000 new keys: ${GCRA}`, value: gcra.manyKeys.firstNs, unit: 'ns' },
      { what: `a decision, 1,000,000 known keys: ${GCRA}`, value: gcra.manyKeys.againNs, unit: 'ns' },
      pausesRow(GCRA, gcra.pauses.pauses, gcra.pauses.expectedPauses),
    ],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { rows } = await run();
  console.table(
    rows.map(({ what, value, unit, ratio, target, ok }) => ({
      what,
      value: `${value.toFixed(1)} ${unit}`,
      ratio: ratio ? `${ratio.toFixed(1)}×` : '',
      target: target ?? '',
      ok: ok === undefined ? '' : ok ? 'yes' : 'NO',
    })),
  );
}

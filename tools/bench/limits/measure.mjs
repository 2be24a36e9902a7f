// node --expose-gc measure.mjs CONTENDER SCENARIO: measures one contender in one scenario and prints the result as
// JSON.
import { contenders } from './contenders.mjs';

const RATE = { limit: 100, windowMs: 600_000 };
const MANY = 1_000_000;
/** Coprime to MANY: its multiples visit each number once, far from the previous one. */
const STRIDE = 618_033;
const YIELD_EVERY = 10_000;

const keyOf = (number) => `@user${number}:example.org`;
// Every request has its own string, flat and new, not the one of the previous request.
const fresh = (text) => Buffer.from(text, 'latin1').latin1Slice();
const memory = () => {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** CPU time of the process, including the threads of its garbage collector. Excludes other load on the machine. */
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
/** Nanoseconds of CPU time per decision. Asynchronous contenders are awaited one by one, like in a guard. */
async function timePerDecision({ decide, sync }, keys, times) {
  let passed = 0;
  const started = cpuMs();
  if (sync) for (let i = 0; i < times; i++) passed += decide(keys[i % keys.length]) ? 1 : 0;
  else for (let i = 0; i < times; i++) passed += (await decide(keys[i % keys.length])) ? 1 : 0;
  return { ns: ((cpuMs() - started) * 1e6) / times, passed };
}

const PAUSE_DECISIONS = 1_500_000;
const BLOCK = 100;
const MAX_PAUSE_US = 1_000;

/**
 * Microseconds of each of many decisions, and of as many calls that decide nothing. Blocks of both take turns, so that
 * the pauses of the machine affect both alike and can be subtracted.
 */
async function timeEach({ decide, sync }, keys) {
  const ours = new Float64Array(PAUSE_DECISIONS);
  const idle = new Float64Array(PAUSE_DECISIONS);
  const nothing = () => true;
  for (let from = 0; from < PAUSE_DECISIONS; from += BLOCK) {
    for (let i = from; i < from + BLOCK; i++) {
      const key = keys[i % keys.length];
      const started = performance.now();
      if (sync) decide(key);
      else await decide(key);
      ours[i] = (performance.now() - started) * 1000;
    }
    for (let i = from; i < from + BLOCK; i++) {
      const started = performance.now();
      nothing();
      idle[i] = (performance.now() - started) * 1000;
    }
    if (from % YIELD_EVERY === 0) await turn();
  }
  // The share of the time that decisions take, which is also their share of the machine's pauses.
  const total = (times) => times.reduce((sum, time) => sum + Math.min(time, MAX_PAUSE_US), 0);
  const share = total(ours) / total(idle);
  const pauses = (times) => times.filter((time) => time > MAX_PAUSE_US).length;
  const figures = { pauses: pauses(ours), expectedPauses: pauses(idle) * share };
  for (const times of [ours, idle]) times.sort();
  const at = (part) => ours[Math.floor(ours.length * part)];
  return {
    p50: at(0.5),
    p999: at(0.999),
    p9999: at(0.9999),
    longest: ours.at(-1),
    idle: idle.at(-1),
    ...figures,
  };
}

const scenarios = {
  async oneKey(create) {
    const contender = await create(RATE);
    const copies = Array.from({ length: 1024 }, () => fresh(keyOf(7)));
    await timePerDecision(contender, copies, 200_000);
    return { ns: (await timePerDecision(contender, copies, 1_000_000)).ns };
  },

  async manyKeys(create) {
    const contender = await create(RATE);
    const warm = Array.from({ length: 20_000 }, (_, number) => fresh(keyOf(-number)));
    await timePerDecision(await create(RATE), warm, 200_000);
    const keys = Array.from({ length: MANY }, (_, number) => fresh(keyOf(number)));
    // Known keys come in another order, and with new strings.
    const again = Array.from({ length: MANY }, (_, number) => fresh(keyOf((number * STRIDE) % MANY)));
    globalThis.gc();
    const first = await timePerDecision(contender, keys, MANY);
    const second = await timePerDecision(contender, again, MANY);
    if (first.passed !== MANY) throw new Error(`${MANY - first.passed} of the first events were refused`);
    return { firstNs: first.ns, againNs: second.ns, bothNs: (first.ns + second.ns) / 2 };
  },

  /** Memory of a million keys, including the strings, which only the contender references. */
  async bytesPerKey(create) {
    const contender = await create(RATE);
    await contender.decide(keyOf(-1));
    const before = memory();
    for (let number = 0; number < MANY; number++) {
      await contender.decide(fresh(keyOf(number)));
      if (number % YIELD_EVERY === 0) await turn();
    }
    const bytes = memory() - before;
    await contender.decide(keyOf(-2));
    return { bytes: bytes / MANY };
  },

  /** Time of each decision while hundreds of thousands of windows open and close. */
  async pauses(create) {
    const contender = await create({ limit: 100, windowMs: 1_000 });
    const keys = Array.from({ length: 300_000 }, (_, number) => fresh(keyOf(number)));
    for (let i = 0; i < 300_000; i++) await contender.decide(keys[i]);
    globalThis.gc();
    return timeEach(contender, keys);
  },
};

const [name, scenario] = process.argv.slice(2);
console.log(JSON.stringify(await scenarios[scenario](contenders[name])));
process.exit(0);

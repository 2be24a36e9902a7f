import 'reflect-metadata';
import { driverOf, MEETING_OPERATIONS } from '@headgate/testing';
import { ClusterMeetings, MOMENTS, type Moment, type Pair } from '../testing/meetings/cluster-meetings.js';
import { violationsOf } from '../testing/meetings/promises.js';
import { SandboxLab } from '../testing/sandbox-lab.js';

/**
 * `all`: every moment of each pair, and not only the one that the seed selects. `start,stop`: every moment of this
 * pair.
 */
const WANTED = process.env['HEADGATE_TEST_MEETINGS'];
const SEED = Number(process.env['HEADGATE_TEST_MEETINGS_SEED'] ?? 24);
const TIMEOUT_MS = 900_000;
const LANES = 32;
/** The service carries out four exports at the same time, and refuses more. */
const EXPORTS = 3;

const NODES = ['node-a', 'node-b'].map((name) => ({ name, resources: { gpu: '1000' } }));
const CLUSTER = {
  // Each VM can be migrated, and has a device to attach.
  nodes: NODES,
  permittedHostDevices: { pciHostDevices: [{ pciVendorSelector: '10DE:1EB8', resourceName: 'gpu' }] },
  vmRolloutStrategy: 'LiveUpdate' as const,
};

/** Neighbors have different operations, so that the work of a batch is mixed. */
function allPairs(): Pair[] {
  const pairs: Pair[] = [];
  for (const distance of MEETING_OPERATIONS.keys())
    for (const [index, first] of MEETING_OPERATIONS.entries()) {
      const second = MEETING_OPERATIONS[(index + distance) % MEETING_OPERATIONS.length];
      if (second === undefined) continue;
      const states = new Set([driverOf(first).needs, driverOf(second).needs].filter(Boolean));
      // The others need the VM in two states.
      const isWanted = !WANTED?.includes(',') || WANTED === `${first},${second}`;
      if (states.size < 2 && isWanted) pairs.push({ first, second });
    }
  return pairs;
}

const exportsIn = (pairs: readonly Pair[]): number =>
  pairs.flatMap(({ first, second }) => [first, second]).filter((operation) => operation === 'export').length;

function batchesOf(pairs: readonly Pair[]): Pair[][] {
  const batches: Pair[][] = [];
  for (const pair of pairs) {
    const batch = batches.at(-1);
    if (batch && batch.length < LANES && exportsIn([...batch, pair]) <= EXPORTS) batch.push(pair);
    else batches.push([pair]);
  }
  return batches;
}

describe('every pair of operations on one VM of a cluster', () => {
  const pairs = allPairs();
  let lab: SandboxLab;

  beforeAll(async () => {
    lab = await SandboxLab.create({ cluster: CLUSTER });
    await lab.open();
    lab.run();
    expect((await lab.send('POST', '/api/folders', { path: 'all' })).status).toBe(200);
  }, TIMEOUT_MS);

  afterAll(() => lab.close());

  // Of 36 operations, 8 need a VM that runs, and 4 a stopped one.
  (WANTED?.includes(',') ? test.skip : test)('is met, unless it needs the VM in two states', () => {
    expect(pairs).toHaveLength(36 * 36 - 2 * 8 * 4);
  });

  test.each(MOMENTS.map((moment, index) => [moment, index] as const))(
    'goes on, waits or is refused as the table says: %s',
    async (moment: Moment, index) => {
      const chosen = pairs.filter((_pair, place) => WANTED !== undefined || (place + SEED) % MOMENTS.length === index);
      const meetings = new ClusterMeetings(lab);
      const violations: string[] = [];
      for (const batch of batchesOf(chosen))
        for (const meeting of await meetings.run(batch, moment)) violations.push(...violationsOf(meeting));
      expect(violations).toEqual([]);
      expect([lab.restoreViolations, lab.lab.simulation.errors]).toEqual([[], []]);
    },
    TIMEOUT_MS,
  );
});

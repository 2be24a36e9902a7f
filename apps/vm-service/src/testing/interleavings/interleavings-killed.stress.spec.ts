import type { OperationRequest } from '@headgate/testing';
import { CONTESTS, moveTo, setTag, type ContestNames } from './contests.js';
import { KilledLab } from './killed-lab.js';
import type { Answer } from './outcome.js';
import { runSettings } from './run-settings.js';
import { runStories } from './run-stories.js';
import { removeAll, settle, stateIn, taskSeenBy } from './story-world.js';

/** `npm run interleavings` runs more. */
const settings = runSettings('HEADGATE_TEST_KILLED_INTERLEAVINGS', 50);
/** A process that starts keeps only its own callers waiting. */
const LANES = 6;
/** Each contestant once comes first, in each process. */
const ROUNDS = 3;
const OPEN_MS = 180_000;
const TIMEOUT_MS = OPEN_MS + settings.runs * 20_000;

describe('three replicas', () => {
  let lab: KilledLab;

  beforeAll(async () => {
    lab = await KilledLab.open();
  }, OPEN_MS);

  afterAll(() => lab?.close());

  test(
    `keep everything that they acknowledged when they are killed, in ${settings.runs} interleavings`,
    async () => {
      expect(await runStories(lab, { ...settings, lanes: LANES })).toEqual([]);
      process.stdout.write(`${lab.kills} kills\n`);
    },
    TIMEOUT_MS,
  );

  /** Sends each request to another replica at the same time, while nothing in the clusters takes its time. */
  async function sendAtOnce(requests: readonly OperationRequest[], round: number): Promise<Answer[]> {
    lab.clock.hold();
    try {
      return await Promise.all(
        requests.map((request, index) => lab.send(lab.callers[(index + round) % lab.callers.length]!, request)),
      );
    } finally {
      lab.clock.release();
    }
  }

  /** Its tasks end well, as every replica shows. */
  async function expectDone(answer: Answer): Promise<void> {
    const task = answer?.json['task'];
    if (typeof task !== 'string') return;
    for (const caller of lab.callers) {
      const { status, error } = await taskSeenBy(lab, caller, task);
      expect([caller, status, error]).toEqual([caller, 'done', '']);
    }
  }

  test.each(CONTESTS)(
    'let exactly one of $title win',
    async ({ contestants }) => {
      for (let round = 0; round < ROUNDS; round++) {
        const prefix = lab.freshName();
        const names: ContestNames = { one: `${prefix}-one`, two: `${prefix}-two`, free: `${prefix}-free` };
        for (const name of [names.one, names.two]) await lab.givenVm('Stopped', name);
        const all = contestants(names);
        const answers = await sendAtOnce(
          all.map(({ request }) => request),
          round,
        );
        const won = answers.map((answer) => (answer?.status ?? 0) < 300);
        const statuses = answers.map((answer) => answer?.status);
        expect([statuses, won.filter(Boolean).length]).toEqual([statuses, 1]);
        for (const [index, answer] of answers.entries())
          if (!won[index])
            expect([answer?.status, answer?.json]).toEqual([answer?.status === 404 ? 404 : 409, answer?.json]);
        await settle(lab, prefix);
        await expectDone(answers[won.indexOf(true)]);
        const objects = stateIn(lab.clusters[0]!, prefix).objects.map(
          ({ kind, metadata }) => `${kind}/${metadata.name}`,
        );
        expect([statuses, all[won.indexOf(true)]?.isDone(objects)]).toEqual([statuses, true]);
        const machines = stateIn(lab.clusters[0]!, prefix).machines.map(({ metadata }) => metadata.name);
        expect(machines).toEqual([...new Set(machines)]);
        await removeAll(lab, prefix);
        await lab.rest(prefix);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'take a tag along with a move, or refuse it',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const name = lab.freshName();
        await lab.givenVm('Stopped', name);
        const [moved, tagged] = await sendAtOnce([moveTo('other', name), setTag(name, 'prod')], round);
        expect([moved?.status, moved?.json]).toEqual([200, moved?.json]);
        expect([200, 409]).toContain(tagged?.status);
        await settle(lab, name);
        await expectDone(moved);
        const [copy] = stateIn(lab.clusters[1]!, name).machines;
        expect(copy?.metadata.labels?.['svc.dev/tag.prod']).toBe(tagged?.status === 200 ? 'true' : undefined);
        await removeAll(lab, name);
        await lab.rest(name);
      }
    },
    TIMEOUT_MS,
  );
});

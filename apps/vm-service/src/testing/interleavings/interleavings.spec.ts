import 'reflect-metadata';
import fc from 'fast-check';
import { SandboxLab } from '../sandbox-lab.js';
import { Story, type StoryWorld } from './story.js';
import { storyCommands } from './story-commands.js';

/** `npm run interleavings` runs 10,000. */
const RUNS = Number(process.env['HEADGATE_TEST_INTERLEAVINGS'] ?? 450);
/** A failure prints its seed and its path, which repeat it. */
const SEED = Number(process.env['HEADGATE_TEST_INTERLEAVING_SEED'] ?? 66);
const PATH = process.env['HEADGATE_TEST_INTERLEAVING_PATH'];
/** Their stories are at different points, so that one of them always has work. */
const LANES = PATH === undefined ? 4 : 1;
const TIMEOUT_MS = 60_000 + RUNS * 1_000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('several callers of one service', () => {
  let lab: SandboxLab;

  beforeAll(async () => {
    lab = await SandboxLab.create();
    await lab.open();
    lab.run();
  }, TIMEOUT_MS);

  afterAll(() => lab.close());

  const world = (): StoryWorld => ({
    store: lab.lab.sandbox.store,
    isKilled: false,
    send: (_caller, { method, path, body }) => lab.send(method, path, body),
    until: (holds, explain) => lab.until(holds, 'the story ends', () => [explain()]),
  });

  const wait = async (turns: number): Promise<void> => {
    for (let count = 0; count < turns; count++) await turn();
  };

  async function runStory(commands: Parameters<typeof fc.asyncModelRun>[1], isRunning: boolean): Promise<void> {
    const prefix = lab.freshName();
    const story = new Story(world(), prefix);
    await lab.givenVm(isRunning ? 'Running' : 'Stopped', story.name(0));
    await fc.asyncModelRun(
      () => ({ model: {}, real: { story, wait, kill: async () => undefined } }),
      commands as never,
    );
    try {
      const violations = [...(await story.check()), ...lab.restoreViolations];
      if (violations.length > 0) throw new Error(violations.join('\n'));
      await story.end();
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${story.toString()}`, { cause: error });
    }
  }

  test(
    `keeps everything that it acknowledged, in ${RUNS} interleavings`,
    async () => {
      const lanes = Array.from({ length: LANES }, (_none, lane) =>
        fc.assert(fc.asyncProperty(storyCommands(), fc.boolean(), runStory as never), {
          numRuns: Math.ceil(RUNS / LANES),
          seed: SEED + lane,
          // Every attempt to shrink takes as long as the story.
          endOnFailure: true,
          ...(PATH !== undefined && { path: PATH }),
        }),
      );
      const results = await Promise.allSettled(lanes);
      const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
      expect(failures.map(({ message, cause }) => `${(cause as Error).message}\n${message}`)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

import 'reflect-metadata';
import { SandboxLab } from '../sandbox-lab.js';
import { runSettings } from './run-settings.js';
import { runStories, type StoryLab } from './run-stories.js';

/** `npm run interleavings` runs more. */
const settings = runSettings('HEADGATE_TEST_INTERLEAVINGS', 450);
const LANES = 4;
const TIMEOUT_MS = 60_000 + settings.runs * 1_000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('several callers of one service', () => {
  let lab: SandboxLab;

  beforeAll(async () => {
    lab = await SandboxLab.create();
    await lab.open();
    lab.run();
  }, TIMEOUT_MS);

  afterAll(() => lab.close());

  const storyLab = (): StoryLab => ({
    clusters: [
      { context: 'lab', store: lab.lab.sandbox.store },
      { context: 'other', store: lab.other.sandbox.store },
    ],
    callers: [0],
    isKilled: false,
    restoreViolations: lab.restoreViolations,
    freshName: () => lab.freshName(),
    givenVm: (status, name) => lab.givenVm(status, name),
    send: (_caller, { method, path, body }) => lab.send(method, path, body),
    until: (holds, explain) => lab.until(holds, 'the story ends', () => [explain()]),
    wait: async (turns) => {
      for (let count = 0; count < turns; count++) await turn();
    },
    kill: async () => undefined,
    rest: async () => undefined,
  });

  test(
    `keeps everything that it acknowledged, in ${settings.runs} interleavings`,
    async () => expect(await runStories(storyLab(), { ...settings, lanes: LANES })).toEqual([]),
    TIMEOUT_MS,
  );
});

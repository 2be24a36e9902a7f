import { KilledLab } from './killed-lab.js';
import { runSettings } from './run-settings.js';
import { runStories } from './run-stories.js';

/** `npm run interleavings` runs more. */
const settings = runSettings('HEADGATE_TEST_KILLED_INTERLEAVINGS', 50);
/** A process that starts keeps only the callers of its own waiting. */
const LANES = 6;
const OPEN_MS = 180_000;
const TIMEOUT_MS = OPEN_MS + settings.runs * 20_000;

describe('several callers of three replicas that are killed', () => {
  let lab: KilledLab;

  beforeAll(async () => {
    lab = await KilledLab.open();
  }, OPEN_MS);

  afterAll(() => lab?.close());

  test(
    `keep everything that they acknowledged, in ${settings.runs} interleavings`,
    async () => {
      expect(await runStories(lab, { ...settings, lanes: LANES })).toEqual([]);
      process.stdout.write(`${lab.kills} kills\n`);
    },
    TIMEOUT_MS,
  );
});

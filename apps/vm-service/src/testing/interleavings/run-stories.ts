import fc from 'fast-check';
import { Story, type Tally } from './story.js';
import { storyCommands, type StoryReal } from './story-commands.js';
import { removeAll, type StoryWorld } from './story-world.js';

/** Where stories happen. */
export interface StoryLab extends StoryWorld, Pick<StoryReal, 'wait' | 'kill'> {
  /** A name that no other object contains. */
  freshName(): string;
  /** A VM that every process of the service has listed. */
  givenVm(status: 'Running' | 'Stopped', name: string): Promise<unknown>;
  /** Restores during which their VM ran. */
  readonly restoreViolations: readonly string[];
  /** Waits until nothing else is left of a story whose objects were deleted. @throws Error with the rest */
  rest(prefix: string): Promise<void>;
}

export interface RunOptions {
  readonly runs: number;
  /** How many stories happen at the same time. They are at different points, so that one of them always has work. */
  readonly lanes: number;
  readonly seed: number;
  /** Of the one story that is repeated. */
  readonly path?: string | undefined;
}

const REPORTED_RUNS = 500;

/** Runs random stories. @returns the violated promises, each with its story, its seed and its path */
export async function runStories(lab: StoryLab, { runs, lanes, seed, path }: RunOptions): Promise<string[]> {
  let count = 0;
  const sum: Tally = { acknowledged: 0, refused: 0, unanswered: 0 };

  async function runStory(commands: Parameters<typeof fc.asyncModelRun>[1], isRunning: boolean): Promise<void> {
    const story = new Story(lab, lab.freshName(), isRunning);
    await lab.givenVm(isRunning ? 'Running' : 'Stopped', story.name(0));
    await story.open();
    const { wait, kill } = lab;
    await fc.asyncModelRun(() => ({ model: {}, real: { story, wait, kill } satisfies StoryReal }), commands as never);
    try {
      const violations = [...(await story.check()), ...lab.restoreViolations];
      if (violations.length > 0) throw new Error(violations.join('\n'));
      await removeAll(lab, story.prefix);
      await story.close();
      await lab.rest(story.prefix);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${story.toString()}`, { cause: error });
    }
    const tally = story.tally();
    for (const key of Object.keys(sum) as (keyof Tally)[]) sum[key] += tally[key];
    if (++count % REPORTED_RUNS === 0) process.stdout.write(`${count} of ${runs} interleavings\n`);
  }

  const laneCount = path === undefined ? Math.min(lanes, runs) : 1;
  const results = await Promise.allSettled(
    Array.from({ length: laneCount }, (_none, lane) =>
      fc.assert(fc.asyncProperty(storyCommands({ kills: lab.isKilled }), fc.boolean(), runStory as never), {
        numRuns: Math.floor((runs + lane) / laneCount),
        seed: seed + lane,
        // Every attempt to shrink takes as long as the story.
        endOnFailure: true,
        ...(path !== undefined && { path }),
      }),
    ),
  );
  const { acknowledged, refused, unanswered } = sum;
  process.stdout.write(
    `${count} interleavings: ${acknowledged} requests acknowledged, ${refused} refused, ${unanswered} without a response\n`,
  );
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
  return failures.map(({ message, cause }) => `${(cause as Error | undefined)?.message ?? ''}\n${message}`);
}

import { Argument, type Command } from 'commander';
import { COMPLETION_SCRIPTS, SHELLS, type Shell } from '../completion/scripts.js';
import { complete, isPlainWord } from '../completion/complete.js';
import { listInstances } from '../instances/list-instances.js';
import type { Session } from '../session.js';
import type { Act } from './command-context.js';

const SUMMARY = 'print the completion for a shell';

/** completion, and the hidden command that its scripts call. */
export function addCompletionCommands(program: Command, act: Act): void {
  program
    .command('completion')
    .summary(SUMMARY)
    .description('Prints a script that completes commands, options and names of instances.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action(act(async ({ output }: Session, shell: Shell) => output.write(COMPLETION_SCRIPTS[shell])));
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(
      act(async (session: Session, words: readonly string[]) => {
        const { words: found, wantsInstance } = complete(program, words);
        const names = wantsInstance ? await namesOf(session, words.at(-1) ?? '') : [];
        session.output.write([...found, ...names].map((word) => `${word}\n`).join(''));
      }),
    );
}

/** The names of instances, and the refs of those whose names are not unique. None if the service does not answer. */
async function namesOf(session: Session, begun: string): Promise<string[]> {
  try {
    const { instances } = await listInstances(await session.api(), {});
    const counts = new Map<string, number>();
    for (const { name } of instances) counts.set(name, (counts.get(name) ?? 0) + 1);
    return instances
      .map(({ name, ref }) => (counts.get(name) === 1 ? name : ref))
      .filter((word) => word.startsWith(begun) && isPlainWord(word));
  } catch {
    return [];
  }
}

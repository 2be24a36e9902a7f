import type { Command } from 'commander';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODE_MEANINGS, EXIT_CODES } from '../exit-codes.js';
import type { Session } from '../session.js';
import type { Act } from './command-context.js';

const exitCodes = (): string =>
  (Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[])
    .map((name) => `${String(EXIT_CODES[name]).padStart(3)}  ${EXIT_CODE_MEANINGS[name]}\n`)
    .join('');

const TOPICS: Readonly<Record<string, () => string>> = {
  'exit-codes': exitCodes,
  environment: () => `HEADGATE_SERVER  the service to use, if neither --server nor --context is given
HEADGATE_TOKEN   the token for the service of --server, of HEADGATE_SERVER, or of this machine; a context has its own
HEADGATE_CONFIG  the file of the contexts, by default ~/.config/headgate/config.yaml
XDG_CONFIG_HOME  instead of ~/.config
XDG_CACHE_HOME   instead of ~/.cache, for compiled code

There is no option for a token, because other users of a machine can read command lines.
`,
  instances: () => `An instance is named by
  web-1                    its name, if no other instance has it
  default/web-1            its namespace and its name
  vm/lab/default/web-1     its ref: kind, context of the service, namespace and name
After "--", a name may begin with a dash: headgate get -- -x
`,
};

/** help, for commands and topics. */
export function addHelpCommand(program: Command, act: Act): void {
  const topics = Object.keys(TOPICS).join(', ');
  program
    .command('help')
    .summary(`show help for a command or a topic: ${topics}`)
    .description(`Shows help for a command, or about a topic: ${topics}.`)
    .argument('[words...]', 'a command or a topic')
    .action(
      act(async ({ output }: Session, words: readonly string[]) => {
        const [first = ''] = words;
        const topic = Object.hasOwn(TOPICS, first) ? TOPICS[first] : undefined;
        if (topic) return output.write(topic());
        output.write(find(program, words).helpInformation());
      }),
    );
}

function find(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const child = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (!child) throw ClientError.usage(`There is no command or topic "${word}". See "headgate help".`);
    command = child;
  }
  return command;
}

import type { Command, Option } from 'commander';

/** The words that fit at the end of a command line. */
export interface Completion {
  readonly words: readonly string[];
  /** Whether the name of an instance fits there. */
  readonly wantsInstance: boolean;
}

const takesInstance = (command: Command, position: number): boolean => {
  const { registeredArguments } = command;
  const argument = registeredArguments[position] ?? registeredArguments.findLast(({ variadic }) => variadic);
  return /^(instance|container|vm|source)$/.test(argument?.name() ?? '');
};

const optionsOf = (command: Command): Option[] => [
  ...command.createHelp().visibleOptions(command),
  ...(command.parent ? optionsOf(command.parent) : []),
];

/**
 * Completes the last of the words behind the name of the program.
 * @param program with all commands
 */
export function complete(program: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  let command = program;
  let position = 0;
  let isLiteral = false;
  for (let index = 0; index < before.length; index++) {
    const word = before[index] ?? '';
    if (!isLiteral && word === '--') {
      isLiteral = true;
    } else if (!isLiteral && word.startsWith('-')) {
      const option = findOption(command, word);
      const takesValue = option !== undefined && (option.required || option.optional) && !word.includes('=');
      if (takesValue && index === before.length - 1) return valuesOf(option, current);
      if (takesValue) index++;
    } else {
      const next = position === 0 ? childOf(command, word) : undefined;
      if (next) command = next;
      else position++;
    }
  }
  if (!isLiteral && current.startsWith('-')) {
    const flags = optionsOf(command).map(({ long, short }) => long ?? short ?? '');
    return { words: fitting(flags, current), wantsInstance: false };
  }
  const children = position === 0 ? command.createHelp().visibleCommands(command) : [];
  return {
    words: fitting([...children.map((child) => child.name()), ...choicesAt(command, position)], current),
    wantsInstance: takesInstance(command, position),
  };
}

const childOf = (command: Command, word: string): Command | undefined =>
  command.commands.find((child) => child.name() === word || child.aliases().includes(word));

const choicesAt = (command: Command, position: number): readonly string[] =>
  command.registeredArguments[position]?.argChoices ?? [];

const findOption = (command: Command, word: string): Option | undefined =>
  optionsOf(command).find((option) => [option.long, option.short].includes(word.split('=')[0]));

const valuesOf = ({ argChoices = [] }: Option, current: string): Completion => ({
  words: fitting(argChoices, current),
  wantsInstance: false,
});

const fitting = (words: readonly string[], current: string): string[] => [
  ...new Set(words.filter((word) => word !== '' && word.startsWith(current))),
];

/** A name that means nothing to a shell. Others are not offered. */
export const isPlainWord = (word: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(word);

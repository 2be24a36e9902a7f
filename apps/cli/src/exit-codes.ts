/** The exit codes of the program, which scripts rely on. `headgate help exit-codes` and the README list them. */
export const EXIT_CODES = {
  ok: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  conflict: 5,
  unreachable: 6,
  differences: 7,
  /** As shells report a program that SIGINT has ended. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

export const EXIT_CODE_MEANINGS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  ok: 'Done. A task that was followed has succeeded.',
  failed:
    'The service or its backend failed, a task has ended with an error, an export of the journal does not verify, or you answered a question with no.',
  usage: 'The command line, a file or a value in it is wrong. Nothing was changed.',
  refused: 'Refused: not permitted, not supported, or a plan has refusals. Nothing was changed.',
  notFound: 'The instance, task, snapshot or context does not exist.',
  conflict: 'In conflict with the state or with another operation, or several instances match.',
  unreachable: 'The service, or the backend behind it, can not be reached or does not answer in time.',
  differences: 'Only of diff --exit-code: something differs from its declaration.',
  interrupted: 'Ended with Ctrl-C.',
};

import { ADMINISTRATOR, type StepContext } from '@headgate/domain-contracts';

export interface RecordingStepContext<Input extends object> extends StepContext<Input> {
  readonly lines: string[];
  readonly fractions: number[];
  readonly transfers: (readonly [doneBytes: number, totalBytes: number | undefined])[];
  readonly checkpoints: object[];
  /** What the step has waited for. */
  readonly waits: string[];
  /** Why the step could not be undone any more. */
  readonly commits: string[];
}

/** The context of one step of a defined task, which records its reports for the test. */
export function recordingStepContext<Input extends object>(
  input: Input,
  {
    results = {},
    ...given
  }: Partial<Omit<StepContext<Input>, 'input' | 'result'>> & { results?: Readonly<Record<string, unknown>> } = {},
): RecordingStepContext<Input> {
  const lines: string[] = [];
  const fractions: number[] = [];
  const transfers: (readonly [number, number | undefined])[] = [];
  const checkpoints: object[] = [];
  const [waits, commits]: [string[], string[]] = [[], []];
  return {
    task: 'test-web-1',
    caller: { login: 'ann', name: 'Ann', grant: ADMINISTRATOR },
    signal: new AbortController().signal,
    params: {},
    attempt: 1,
    checkpoint: undefined,
    mask: () => undefined,
    log: (text) => void lines.push(text),
    progress: (fraction) => void fractions.push(fraction),
    bytes: (doneBytes, totalBytes) => void transfers.push([doneBytes, totalBytes]),
    waitsFor: (subject) => void waits.push(subject),
    commit: async (reason) => void commits.push(reason),
    saveCheckpoint: async (checkpoint) => checkpoints.push(checkpoint) > 0,
    result: <T>(step: string): T => {
      if (!(step in results)) throw new Error(`The step "${step}" is not finished.`);
      return results[step] as T;
    },
    ...given,
    input,
    lines,
    fractions,
    transfers,
    checkpoints,
    waits,
    commits,
  };
}

import type { TaskReporter } from '@headgate/domain-contracts';

export interface RecordingReporter extends TaskReporter {
  readonly steps: string[];
  readonly lines: string[];
  readonly fractions: number[];
  /** What the work has waited for. */
  readonly waits: string[];
  /** Why the work could not be undone any more. */
  readonly commits: string[];
}

/** A reporter that records progress for the test. */
export function recordingReporter(signal: AbortSignal = new AbortController().signal): RecordingReporter {
  const steps: string[] = [];
  const lines: string[] = [];
  const fractions: number[] = [];
  const [waits, commits]: [string[], string[]] = [[], []];
  return {
    steps,
    lines,
    fractions,
    waits,
    commits,
    signal,
    waitsFor: (subject) => void waits.push(subject),
    commit: async (reason) => {
      signal.throwIfAborted();
      commits.push(reason);
    },
    step: (name) => void steps.push(name),
    log: (line) => void lines.push(line),
    progress: (fraction) => void fractions.push(fraction),
  };
}

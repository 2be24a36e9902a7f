import type { TaskReporter } from '@headgate/domain-contracts';

export interface RecordingReporter extends TaskReporter {
  readonly steps: string[];
  readonly lines: string[];
  readonly fractions: number[];
}

/** A reporter that records progress for the test. */
export function recordingReporter(signal: AbortSignal = new AbortController().signal): RecordingReporter {
  const steps: string[] = [];
  const lines: string[] = [];
  const fractions: number[] = [];
  return {
    steps,
    lines,
    fractions,
    signal,
    step: (name) => void steps.push(name),
    log: (line) => void lines.push(line),
    progress: (fraction) => void fractions.push(fraction),
  };
}

import type { Clock } from '@headgate/domain-contracts';
import { PaceMeter, type Pace } from './pace.js';
import type { ShutdownEstimate } from './shutdown-estimates.js';

/** The facts after the last round of a warm move. */
export interface LastRound {
  readonly disks: number;
  /** How much it copied. The guest has probably changed as much again since. */
  readonly lastBytes: number;
  /** How much has been copied more than once, and is compared again. */
  readonly touchedBytes: number;
  /** The size of the disks that have to be compared as a whole. */
  readonly wholeBytes: number;
  readonly pace: Pace | undefined;
  readonly shutdown: ShutdownEstimate;
}

export interface PromisedDowntime {
  readonly seconds: number;
  /** For the log. */
  readonly text: string;
}

/** How long the guest will be stopped from now on. */
export function promiseDowntime(round: LastRound, clock: Clock): PromisedDowntime {
  const { disks, lastBytes, touchedBytes, wholeBytes, pace, shutdown } = round;
  const rest = { disks, copiedBytes: lastBytes, comparedBytes: touchedBytes, wholeBytes };
  const restSeconds = new PaceMeter(clock, pace).secondsFor(rest);
  const seconds = tenths(shutdown.seconds + restSeconds);
  const reason = `${BASES[shutdown.basis](tenths(shutdown.seconds))}, and ${tenths(restSeconds)} s for the rest`;
  return { seconds, text: `The guest is shut down now, and stopped for about ${seconds} s: ${reason}.` };
}

const BASES: Readonly<Record<ShutdownEstimate['basis'], (seconds: number) => string>> = {
  measured: (seconds) => `${seconds} s to shut down, as before`,
  similar: (seconds) => `${seconds} s to shut down, as another guest with its operating system did`,
  guessed: (seconds) => `perhaps ${seconds} s to shut down, which was never measured`,
};

export const tenths = (seconds: number): number => Math.round(seconds * 10) / 10;

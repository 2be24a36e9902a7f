import type { ShutdownTimes } from '@headgate/domain-contracts';

/** A guest whose shutdown is estimated. */
export interface ShuttingGuest {
  /** The backend's ID of the VM. */
  readonly uid: string;
  /** The short ID of its operating system in libosinfo, if it is known. */
  readonly os?: string;
}

export interface ShutdownEstimate {
  readonly seconds: number;
  /** Within these, most likely. */
  readonly minSeconds: number;
  readonly maxSeconds: number;
  readonly basis: 'measured' | 'similar' | 'guessed';
}

/** Windows ends its services first; most other systems are faster than this. */
const WINDOWS_SECONDS = 25;
const OTHER_SECONDS = 8;
const UNKNOWN_SECONDS = 10;
/** How long backends wait for a guest before they say that it ignores the request. */
const GRACE_SECONDS = 60;
const FASTEST_SECONDS = 1;
/** How much a shutdown differs from the one before. */
const SPREAD = 0.2;

/**
 * How long guests take to shut down: as the same guest did, else as the last one with the same operating system, else a
 * guess.
 */
export class ShutdownEstimates {
  constructor(private readonly times: ShutdownTimes) {}

  of(guest: ShuttingGuest): ShutdownEstimate {
    const measured = this.times.of(keyOfVm(guest.uid));
    if (measured !== undefined) {
      const seconds = measured / 1000;
      return {
        seconds,
        minSeconds: seconds * (1 - SPREAD),
        maxSeconds: seconds * (1 + SPREAD),
        basis: 'measured',
      };
    }
    const similar = guest.os === undefined ? undefined : this.times.of(keyOfOs(guest.os));
    return {
      seconds: similar === undefined ? guessFor(guest.os) : similar / 1000,
      minSeconds: FASTEST_SECONDS,
      maxSeconds: GRACE_SECONDS,
      basis: similar === undefined ? 'guessed' : 'similar',
    };
  }

  record({ uid, os }: ShuttingGuest, milliseconds: number): void {
    const rounded = Math.max(1, Math.round(milliseconds));
    this.attempt(() => {
      this.times.record(keyOfVm(uid), rounded);
      if (os !== undefined) this.times.record(keyOfOs(os), rounded);
    });
  }

  /** The copy of a VM shuts down like the VM, but has another ID. */
  carryOver(from: string, to: string): void {
    this.attempt(() => {
      const milliseconds = this.times.of(keyOfVm(from));
      if (milliseconds !== undefined && this.times.of(keyOfVm(to)) === undefined)
        this.times.record(keyOfVm(to), milliseconds);
    });
  }

  /** A move works as well without a record, so a full disk does not end it. */
  private attempt(work: () => void): void {
    try {
      work();
    } catch {
      // The next move measures it again.
    }
  }
}

const keyOfVm = (uid: string): string => `vm/${uid}`;
const keyOfOs = (os: string): string => `os/${os}`;

function guessFor(os: string | undefined): number {
  if (os === undefined) return UNKNOWN_SECONDS;
  return os.startsWith('win') ? WINDOWS_SECONDS : OTHER_SECONDS;
}

import type { InstanceRef } from '../values/instance-ref.js';

export interface DiagnosticCheck {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'error';
  readonly message: string;
  readonly fixable: boolean;
  /** The solution; empty if nothing is wrong. */
  readonly remedy: string;
  /** The problem in a few plain words; without it, the message has to do. */
  readonly title?: string;
  /** The instances that have the problem, where the check knows them. */
  readonly affected?: readonly InstanceRef[];
}

/** Finds problems of a backend and fixes some of them. */
export abstract class Diagnostics {
  /** Never throws: an unreachable backend is a failed check. */
  abstract checks(): Promise<readonly DiagnosticCheck[]>;
  /**
   * @param names the checks to fix; all of them by default
   * @returns the names of the fixed checks
   */
  abstract fix(names?: readonly string[]): Promise<readonly string[]>;
}

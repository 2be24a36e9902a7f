export interface DiagnosticCheck {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'error';
  readonly message: string;
  readonly fixable: boolean;
  /** The solution; empty if nothing is wrong. */
  readonly remedy: string;
}

/** Finds problems of a backend and fixes some of them. */
export abstract class Diagnostics {
  /** Never throws: an unreachable backend is a failed check. */
  abstract checks(): Promise<readonly DiagnosticCheck[]>;
  /** @returns the names of the fixed checks */
  abstract fix(): Promise<readonly string[]>;
}

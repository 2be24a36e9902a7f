export interface DiagnosticCheck {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'error';
  readonly message: string;
  readonly fixable: boolean;
  /** What to do; empty when nothing is wrong. */
  readonly remedy: string;
}

/** Finds out what is wrong with a backend, and mends what it can. */
export abstract class Diagnostics {
  /** Never throws: a backend that is away is a check that failed. */
  abstract checks(): Promise<readonly DiagnosticCheck[]>;
  /** @returns the names of the checks that it mended */
  abstract fix(): Promise<readonly string[]>;
}

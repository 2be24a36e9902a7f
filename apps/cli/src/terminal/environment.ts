import type { Readable, Writable } from 'node:stream';

/** What the program has of the process that runs it, so that tests can give it another one. */
export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & {
    readonly isTTY?: boolean;
    setRawMode?: (mode: boolean) => unknown;
  };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly homeDirectory: string;
  /** Starts this program again: its interpreter and its file. */
  readonly command: readonly string[];
  /** Aborts when the user ends the program with Ctrl-C. */
  readonly interrupted: AbortSignal;
}

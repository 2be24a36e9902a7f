import { execFile, type ExecFileException } from 'node:child_process';

export interface RunOptions {
  /** The program is killed after this time. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The program is killed when it prints more. */
  readonly maxBytes?: number;
  readonly cwd?: string;
  /** Runs the program as this user and group, which only root may choose. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /**
   * Limits of the kernel for the program. They are applied where `prlimit` is installed, as it is on any usual Linux.
   */
  readonly limits?: ProgramLimits;
}

export interface ProgramLimits {
  readonly addressSpaceBytes: number;
  readonly cpuSeconds: number;
  /** The largest file that the program may write. */
  readonly fileBytes?: number;
}

export interface ProgramResult {
  /** The exit code, or null when the program was killed or could not be started. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ended?: 'timeout' | 'aborted' | 'too-much-output';
  /** The program is not installed. */
  readonly missing?: boolean;
}

/**
 * Runs one program with an argument array. Resolves once it has ended, also when it was canceled. Never rejects: the
 * result describes the failure.
 */
export type RunProgram = (program: string, args: readonly string[], options: RunOptions) => Promise<ProgramResult>;

const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;

/** Runs a program on this machine without a shell, in the C locale. */
export const runProgram: RunProgram = async (program, args, options) => {
  if (!options.limits) return execute(program, args, options);
  const result = await execute('prlimit', [...limitArguments(options.limits), '--', program, ...args], options);
  if (result.missing) return execute(program, args, options);
  // Exit code of prlimit for a program that does not exist.
  return result.code === 127 ? { ...result, missing: true } : result;
};

/** Arguments of `prlimit`. */
export const limitArguments = ({ addressSpaceBytes, cpuSeconds, fileBytes }: ProgramLimits): string[] => [
  `--as=${addressSpaceBytes}`,
  `--cpu=${cpuSeconds}`,
  '--core=0',
  ...(fileBytes === undefined ? [] : [`--fsize=${fileBytes}`]),
];

const execute: RunProgram = (program, args, { timeoutMs, signal, maxBytes = MAX_OUTPUT_BYTES, cwd, user }) =>
  new Promise((resolve) => {
    const child = execFile(
      program,
      [...args],
      // SIGKILL, because a virsh that waits for a hanging daemon does not handle SIGTERM in time.
      {
        timeout: timeoutMs,
        maxBuffer: maxBytes,
        signal,
        killSignal: 'SIGKILL',
        env: englishEnvironment(),
        cwd,
        ...user,
      },
      (error, stdout, stderr) => {
        const settle = (): void =>
          resolve(error ? failureOf(error, { stdout, stderr, signal }) : { code: 0, stdout, stderr });
        // Node calls back when it has canceled a program, which may still use its files then.
        if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) settle();
        else child.once('exit', settle);
      },
    );
    // A program that ends early does not read its input.
    child.stdin?.on('error', () => undefined).end();
  });

export const englishEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env, LC_ALL: 'C', LANGUAGE: 'C' });

function failureOf(
  error: ExecFileException,
  { stdout, stderr, signal }: { stdout: string; stderr: string; signal: AbortSignal | undefined },
): ProgramResult {
  const code = typeof error.code === 'number' ? error.code : null;
  return {
    code,
    stdout,
    stderr,
    missing: error.code === 'ENOENT',
    ...(code === null && { ended: howItEnded(error, signal) }),
  };
}

function howItEnded(error: Error & { code?: unknown }, signal: AbortSignal | undefined): ProgramResult['ended'] {
  if (signal?.aborted) return 'aborted';
  return error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' ? 'too-much-output' : 'timeout';
}

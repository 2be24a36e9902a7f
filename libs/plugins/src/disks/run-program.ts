import { spawn } from 'node:child_process';
import { DomainError, plainText } from '@headgate/domain-contracts';

export interface ProgramRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly signal: AbortSignal;
  /** Receives the lines of both outputs. */
  readonly onLine?: (line: string) => void;
}

export interface ProgramResult {
  readonly status: number;
  /** The end of the standard output. */
  readonly output: string;
  /** The last lines of both outputs. */
  readonly lastLines: string;
}

/** The environment that programs get: the settings of container tools, and none of the service's own. */
const PASSED_VARIABLES = [
  ...['PATH', 'HOME', 'LANG', 'TMPDIR', 'XDG_RUNTIME_DIR', 'REGISTRY_AUTH_FILE', 'CONTAINERS_CONF'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

const MAX_OUTPUT_CHARS = 1_048_576;
const MAX_LINE_CHARS = 2000;
const MAX_LAST_LINES = 5;

/**
 * Runs a program without a shell, and passes on its output line by line.
 * @throws DomainError NOT_SUPPORTED when there is no such program, CONFLICT when the signal ended it
 */
export function runProgram({ program, args, signal, onLine }: ProgramRun): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { stdio: ['ignore', 'pipe', 'pipe'], env: passedEnvironment(), signal });
    let output = '';
    let last: string[] = [];
    const receive = (line: string): void => {
      const shown = plainText(line, MAX_LINE_CHARS);
      if (shown.trim() === '') return;
      last = [...last, shown].slice(-MAX_LAST_LINES);
      onLine?.(shown);
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = `${output}${text}`.slice(-MAX_OUTPUT_CHARS);
    });
    const endLines = [splitLines(child.stdout, receive), splitLines(child.stderr, receive)];
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) return;
      reject(
        error.code === 'ENOENT'
          ? new DomainError('NOT_SUPPORTED', `${program} is not installed.`, { cause: error })
          : error,
      );
    });
    child.once('close', (code) => {
      for (const end of endLines) end();
      if (signal.aborted) reject(new DomainError('CONFLICT', 'The operation was canceled.', { cause: signal.reason }));
      else resolve({ status: code ?? -1, output, lastLines: last.join('\n') });
    });
  });
}

/** Progress bars end their lines with a carriage return. @returns passes on the last line */
function splitLines(stream: NodeJS.ReadableStream, receive: (line: string) => void): () => void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string | Buffer) => {
    const lines = `${rest}${text}`.split(/[\r\n]+/);
    rest = (lines.pop() ?? '').slice(-MAX_LINE_CHARS);
    for (const line of lines) receive(line);
  });
  return () => receive(rest);
}

const passedEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(PASSED_VARIABLES.map((name) => [name, process.env[name]]));

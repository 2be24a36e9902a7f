import { spawn } from 'node:child_process';

/**
 * The result of a command. `code` is null if it was killed by a signal or could not be started.
 * @typedef {{ code: number | null, stdout: string, stderr: string, timedOut: boolean, missing: boolean }} CommandResult
 * @typedef {{ timeoutMs?: number, env?: Record<string, string>, cwd?: string, onLine?: (line: string) => void }}
 *   CommandOptions
 * @typedef {(file: string, args: string[], options?: CommandOptions) => Promise<CommandResult>} RunCommand
 */

/** Debian's folders of system tools, which are not on every user's PATH. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/sbin:/sbin:/usr/libexec';

/** Time after a command's exit during which its output is still read. */
const LINGER_MS = 1_000;

/** The PATH of this process followed by the folders of system tools. */
export const searchPath = () => `${process.env['PATH'] ?? '/usr/bin:/bin'}:${SYSTEM_PATH}`;

/**
 * Runs one command without a shell. Never rejects. A command that is still running after `timeoutMs` is killed.
 * `onLine` receives every line of output while the command runs.
 * @type {RunCommand}
 */
export function runCommand(file, args, { timeoutMs, env = {}, cwd, onLine } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      env: { ...process.env, LC_ALL: 'C', PATH: searchPath(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    let timedOut = false;
    const timer = timeoutMs
      ? setTimeout(() => {
          timedOut = true;
          child.kill('SIGKILL');
        }, timeoutMs)
      : undefined;

    for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
      let rest = '';
      child[name].setEncoding('utf8').on('data', (/** @type {string} */ text) => {
        output[name] += text;
        if (!onLine) return;
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        lines.filter((line) => line.trim() !== '').forEach(onLine);
      });
    }

    /** @param {number | null} code @param {boolean} missing */
    const end = (code, missing) => {
      clearTimeout(timer);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ code, ...output, timedOut, missing });
    };
    child.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      output.stderr += error.message;
      end(null, error.code === 'ENOENT');
    });
    child.once('close', (code) => end(code, false));
    // A background process of the command may keep the pipes open; its output is not awaited.
    child.once('exit', (code) => setTimeout(() => end(code, false), LINGER_MS).unref());
  });
}

/**
 * The last line of output, to show with a failure.
 * @param {CommandResult} result
 */
export function lastLine({ stdout, stderr, timedOut }) {
  if (timedOut) return 'it timed out';
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  return lines.at(-1)?.trim() ?? 'no output';
}

import { spawn } from 'node:child_process';

/**
 * What a command did. `code` is null when it was ended by a signal or could not be started.
 * @typedef {{ code: number | null, stdout: string, stderr: string, timedOut: boolean, missing: boolean }} CommandResult
 * @typedef {{ timeoutMs?: number, env?: Record<string, string>, cwd?: string, onLine?: (line: string) => void }} CommandOptions
 * @typedef {(file: string, args: string[], options?: CommandOptions) => Promise<CommandResult>} RunCommand
 */

/** System tools live there on Debian, but are not on the PATH of everyone who may run them. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/sbin:/sbin:/usr/libexec';

/** How long after a command's end its output is still read. */
const LINGER_MS = 1_000;

/** The PATH of this process followed by the folders of system tools. */
export const searchPath = () => `${process.env['PATH'] ?? '/usr/bin:/bin'}:${SYSTEM_PATH}`;

/**
 * Runs one command without a shell and tells how it ended; it never rejects. A command that is still running after
 * `timeoutMs` is killed. `onLine` hears every line of its output while it runs.
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
    // A background process that the command left behind may hold its output open: that is not waited for.
    child.once('exit', (code) => setTimeout(() => end(code, false), LINGER_MS).unref());
  });
}

/**
 * The last line a command wrote, to show with a failure.
 * @param {CommandResult} result
 */
export function lastLine({ stdout, stderr, timedOut }) {
  if (timedOut) return 'it did not answer in time';
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  return lines.at(-1)?.trim() ?? 'it said nothing';
}

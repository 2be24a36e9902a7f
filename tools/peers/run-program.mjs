import { spawnSync } from 'node:child_process';

/**
 * Runs a program to its end, or interrupts it after the limit. Its errors are shown.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, timeoutMs?: number }} [options]
 */
export function runProgram(command, args, { timeoutMs, ...options } = {}) {
  const { status, error } = spawnSync(command, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: timeoutMs,
    // With SIGINT, `go build` also ends the compilers that it has started.
    killSignal: 'SIGINT',
    ...options,
  });
  if (error && 'code' in error && error.code === 'ETIMEDOUT')
    throw new Error(`${command} was ended, because it took longer than ${(timeoutMs ?? 0) / 1000} s.`);
  if (error) throw new Error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.slice(0, 3).join(' ')} failed.`);
}

import { spawnSync } from 'node:child_process';

/**
 * Runs a program to its end. Its errors are shown.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined> }} [options]
 */
export function runProgram(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
  if (error) throw new Error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.slice(0, 3).join(' ')} failed.`);
}

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Kills a process, and waits until it has exited. */
export async function endProcess(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const exited = once(process, 'exit');
  process.kill('SIGKILL');
  await exited;
}

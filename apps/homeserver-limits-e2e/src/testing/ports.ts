import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** A starting server is asked again after this long. */
const RETRY_MS = 20;
const START_TIMEOUT_MS = 180_000;

/**
 * Below the ports that Linux assigns automatically (32768 to 60999): no connection takes one before the program has
 * started.
 */
const PORTS = [20_000, 32_000] as const;

/** A port of 127.0.0.1 that was free just now, for a program that cannot choose one itself. */
export async function freePort(): Promise<number> {
  const port = randomInt(...PORTS);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return freePort();
  }
  server.close();
  await once(server, 'close');
  return port;
}

/** Resolves when the program accepts connections. Rejects when it exits before. */
export async function untilAccepting(port: number, program: ChildProcess): Promise<void> {
  const end = Date.now() + START_TIMEOUT_MS;
  while (!(await accepts(port))) {
    if (program.exitCode !== null || program.signalCode !== null)
      throw new Error(`${program.spawnfile} exited with ${program.exitCode ?? program.signalCode}`);
    if (Date.now() > end) throw new Error(`${program.spawnfile} does not listen`);
    await setTimeout(RETRY_MS);
  }
}

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1', () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

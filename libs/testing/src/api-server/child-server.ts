import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux assigns automatically (32768 to 60999): no connection takes one while a server is
 * restarted.
 */
const PORTS = [20_000, 32_000] as const;
const MAX_LOG_CHARS = 20_000;
const POLL_INTERVAL_MS = 50;
const START_TIMEOUT_MS = 120_000;

/** A port of 127.0.0.1 that was free just now, for a program that can't choose one itself. */
export async function freePort(): Promise<number> {
  const port = randomInt(...PORTS);
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return freePort();
  }
  probe.close();
  await once(probe, 'close');
  return port;
}

/** A server that runs as a process of its own, and can be killed, paused and started again with the same options. */
export class ChildServer {
  private child: ChildProcess | undefined;
  private log = '';

  /** @param isReady whether it answers */
  constructor(
    private readonly program: string,
    private readonly options: readonly string[],
    private readonly isReady: () => Promise<boolean>,
    private readonly env: NodeJS.ProcessEnv = process.env,
  ) {}

  /** Resolves when it answers. @throws Error with the end of its log when it exits before that */
  async start(more: readonly string[] = []): Promise<void> {
    this.log = '';
    const child = spawn(this.program, [...this.options, ...more], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: this.env,
    });
    this.child = child;
    child.stderr.on('data', (chunk: Buffer) => (this.log = (this.log + chunk.toString()).slice(-MAX_LOG_CHARS)));
    let failure: Error | undefined;
    child.once('error', (error) => (failure = error));
    const end = Date.now() + START_TIMEOUT_MS;
    while (!(await this.isReady())) {
      if (failure) throw failure;
      if (child.exitCode !== null || Date.now() > end)
        throw new Error(
          `${this.program} does not answer, exit code ${child.exitCode}. The end of its log:\n${this.log}`,
        );
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** Suspends it: connections stay open, and nothing answers. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }
}

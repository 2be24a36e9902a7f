import { type ChildProcess, type SendHandle, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { Channel } from '../link/channel.js';
import type { MainMethods, WorkerMethods, WorkerSettings } from '../link/protocol.js';

/** The argument that makes the program a worker. */
export const WORKER_COMMAND = 'worker';
/** The file descriptor of the channel in a worker. That of the connections is Node's own. */
export const CHANNEL_FD = 4;
/** A worker that takes longer to start is killed. */
const START_TIMEOUT_MS = 60_000;

export type EndReason = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A worker as a process of its own. */
export class WorkerProcess {
  readonly channel: Channel<WorkerMethods>;
  readonly pid: number | undefined;
  private readonly child: ChildProcess;
  private readonly ended = Promise.withResolvers<EndReason>();

  /** @param methods what the worker asks for */
  constructor(methods: MainMethods) {
    const [, program = ''] = process.argv;
    const args = [...process.execArgv, program, WORKER_COMMAND];
    this.child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] });
    this.pid = this.child.pid;
    let ending: EndReason = { code: null, signal: null };
    const { promise: hasExited, resolve: onExit } = Promise.withResolvers<void>();
    this.child.once('exit', (code, signal) => {
      ending = { code, signal };
      onExit();
    });
    // Without a process, such as when the system has no room for one, there is no exit.
    this.child.once('error', () => onExit());
    // Sending a connection to a worker that has just died fails; what happens to it follows from the end of the worker.
    this.child.on('error', () => undefined);
    const { promise: isClosed, resolve: onClosed } = Promise.withResolvers<void>();
    // What the worker has sent before it died is received before the channel closes.
    this.channel = new Channel(
      this.child.stdio[CHANNEL_FD] as Duplex,
      methods as unknown as Record<string, (parameter: never) => unknown>,
      onClosed,
    );
    void Promise.all([hasExited, isClosed]).then(() => this.ended.resolve(ending));
  }

  /** Resolves when the process has ended and everything that it sent was received. */
  get end(): Promise<EndReason> {
    return this.ended.promise;
  }

  /** @throws Error when the worker can't start, with its reason */
  async start(settings: WorkerSettings): Promise<void> {
    const timer = setTimeout(() => this.kill(), START_TIMEOUT_MS);
    try {
      await this.channel.call('start', settings);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends a connection, and after it a message that arrives even if the connection does not. */
  giveConnection(id: number, handle: SendHandle): void {
    if (!this.child.connected) return;
    const ignore = () => undefined;
    this.child.send({ connection: id }, handle, { keepOpen: true }, ignore);
    this.child.send({ sent: id }, ignore);
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}

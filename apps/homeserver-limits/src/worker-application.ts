import { Socket } from 'node:net';
import { ConfigError } from '@headgate/nest-kit';
import type { Logger } from 'pino';
import { parseConfig } from './config/config.js';
import { LiveConfig } from './config/live-config.js';
import type { HandedConnections } from './edge/handed-connections.js';
import { LimitsApplication } from './limits-application.js';
import { Channel } from './link/channel.js';
import type { MainMethods, WorkerMethods, WorkerSettings } from './link/protocol.js';
import { CHANNEL_FD } from './workers/worker-process.js';

/** The signals go to the main process, which stops its workers. A terminal sends them to all processes. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A worker: it handles the requests of the connections that the main process hands over, and ends with it.
 * @throws ConfigError when it has no main process
 */
export function runWorker(log: Logger): void {
  if (process.send === undefined)
    throw new ConfigError('command line', ["worker is a command of server.workers; it can't be given here"]);
  for (const signal of SIGNALS) process.on(signal, () => undefined);
  new Worker(log).connect();
}

class Worker {
  private application?: LimitsApplication;
  private connections?: HandedConnections;
  private readonly received = new Set<number>();
  private main!: Channel<MainMethods>;

  constructor(private readonly log: Logger) {}

  connect(): void {
    const methods: WorkerMethods = {
      start: (settings) => this.start(settings),
      countHeld: ({ count }) => this.application!.heldCounts.run(count),
      reload: ({ text }) => this.application!.reload(text),
      deny: (lists) => this.application!.denyLists.replace(lists),
      metrics: () => this.application!.metrics.registry.getMetricsAsJSON() as never,
      stop: () => void this.stop(),
    };
    // Without the main process, nothing can be counted.
    this.main = new Channel<MainMethods>(new Socket({ fd: CHANNEL_FD }), { ...methods }, () => process.exit(1));
    process.on('message', (message, handle) => this.receive(message as Message, handle as object | undefined));
  }

  private async start({ text, path, reloaded, dataDir }: WorkerSettings): Promise<void> {
    // The main process logs reloads.
    const config = new LiveConfig(parseConfig(text, path), path);
    if (reloaded !== undefined) await config.replace(() => reloaded);
    this.application = await LimitsApplication.create({ config, dataDir, log: this.log, main: this.main });
    this.connections = await this.application.startWorker();
  }

  /** Connections, each followed by a message that arrives even if this process has no file descriptor left. */
  private receive({ connection, sent }: Message, handle: object | undefined): void {
    if (connection !== undefined && handle) this.take(connection, handle);
    if (sent !== undefined && !this.received.delete(sent)) this.main.notify('lost', { id: sent });
  }

  /**
   * The main process gives a connection that is not taken to another worker. So nothing is read before the message has
   * left this process: the other one would continue in the middle of a request.
   */
  private take(id: number, handle: object): void {
    this.received.add(id);
    this.main.notify('taken', { id }, () => {
      this.connections?.take(handle, () => this.main.notify('closed', { id }));
    });
  }

  private async stop(): Promise<void> {
    try {
      await this.application?.close();
      process.exit(0);
    } catch (error) {
      this.log.error({ err: error }, 'a worker could not shut down');
      process.exit(1);
    }
  }
}

interface Message {
  readonly connection?: number;
  readonly sent?: number;
}

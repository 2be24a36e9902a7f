import type { SendHandle } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { ConfigError, type ListenAddress } from '@headgate/nest-kit';
import type { Logger } from 'pino';
import { explainListenFailure } from '../config/listen-failure.js';
import type { ConnectionLimit } from '../edge/connection-limit.js';
import { DRAIN_TIMEOUT_MS } from '../edge/connection-drain.js';
import type { DeniedEntries, WorkerSettings } from '../link/protocol.js';
import { ConnectionTable, type ConnectionTaker } from './connection-table.js';
import { type EndReason, WorkerProcess } from './worker-process.js';
import { type SessionDeps, WorkerSession } from './worker-session.js';
import type { WorkerMetrics } from './worker-metrics.js';

/** The delay before the next start of a worker that could not start; it doubles. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** Workers that have not ended this long after the drain are killed. */
const STOP_MARGIN_MS = 2_000;

export interface WorkerPoolDeps {
  readonly count: number;
  readonly settings: () => WorkerSettings;
  readonly session: SessionDeps;
  /** The deny lists in force. */
  readonly denied: () => readonly DeniedEntries[];
  readonly connections: Pick<ConnectionLimit, 'enter'>;
  readonly metrics: WorkerMetrics;
  readonly log: Logger;
}

interface Accepted {
  readonly socket: Socket;
  readonly leave: () => void;
}

interface RunningWorker extends ConnectionTaker<Accepted> {
  readonly process: WorkerProcess;
  readonly session: WorkerSession;
  isReady: boolean;
}

/**
 * Listens for clients and gives each connection to one of the workers. A worker that ends is replaced; the windows, the
 * caps and the listener are in this process and lose nothing.
 */
export class WorkerPool {
  private readonly workers = new Set<RunningWorker>();
  private readonly table: ConnectionTable<Accepted>;
  private readonly retries = new Set<NodeJS.Timeout>();
  private server: Server | undefined;
  private isStopping = false;

  constructor(private readonly deps: WorkerPoolDeps) {
    this.table = new ConnectionTable<Accepted>({
      release: ({ socket }) => void socket.destroy(),
      refuse: ({ socket }) => {
        socket.destroy();
        this.deps.log.warn('a connection was closed, because no worker could take it');
      },
      onEnded: ({ leave }) => leave(),
    });
  }

  /** Whether clients can connect. */
  get isListening(): boolean {
    return this.server?.listening ?? false;
  }

  /** The workers that can take connections. */
  get readyCount(): number {
    return this.ready().length;
  }

  /** Starts all workers. @throws ConfigError when one of them can't start */
  async start(): Promise<void> {
    const starting = Array.from({ length: this.deps.count }, () => this.launch());
    const results = await Promise.allSettled(starting.map(({ started }) => started));
    const failed = results.find((result) => result.status === 'rejected');
    if (!failed) return;
    await this.stop();
    const reason = failed.reason instanceof Error ? failed.reason.message : String(failed.reason);
    throw new ConfigError('server.workers', [`a worker could not start: ${reason}`]);
  }

  /** Accepts connections. @returns the port */
  async listen(setting: string, address: ListenAddress): Promise<number> {
    // As with Node's HTTP server. Nothing is read here.
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) =>
      this.accept(socket),
    );
    const listening = Promise.withResolvers<void>();
    server.once('error', listening.reject);
    server.listen(address.port, address.host, listening.resolve);
    await explainListenFailure('server.listen', setting, listening.promise);
    server.removeListener('error', listening.reject);
    this.server = server;
    const bound = server.address();
    return typeof bound === 'object' && bound ? bound.port : address.port;
  }

  /** Replaces the deny lists in all workers. Those that start later have them too. */
  deny(lists: readonly DeniedEntries[]): void {
    for (const { process } of this.ready()) process.channel.notify('deny', lists);
  }

  /** Applies a configuration in all workers. Those that start later have it too. @returns how many have it */
  async reload(text: string): Promise<number> {
    const answers = this.ready().map((worker) => worker.process.channel.call('reload', { text }));
    const results = await Promise.allSettled(answers);
    return results.filter((result) => result.status === 'fulfilled' && result.value).length;
  }

  /** The metrics of every worker that answers. */
  async readMetrics(timeoutMs: number): Promise<void> {
    await Promise.all(
      this.ready().map(async ({ process }) => {
        const timeout = Promise.withResolvers<undefined>();
        const timer = setTimeout(() => timeout.resolve(undefined), timeoutMs);
        const answer = process.channel.call('metrics', null).catch(() => undefined);
        const values = await Promise.race([answer, timeout.promise]);
        clearTimeout(timer);
        if (values) this.deps.metrics.keep(process, values);
      }),
    );
  }

  /** Stops accepting, lets the workers complete their requests, and ends them. */
  async stop(): Promise<void> {
    this.isStopping = true;
    for (const timer of this.retries) clearTimeout(timer);
    this.server?.close();
    this.table.close();
    const deadline = setTimeout(() => {
      for (const { process } of this.workers) process.kill();
    }, DRAIN_TIMEOUT_MS + STOP_MARGIN_MS);
    await Promise.all([...this.workers].map((worker) => this.stopOne(worker)));
    clearTimeout(deadline);
  }

  private async stopOne({ process, isReady }: RunningWorker): Promise<void> {
    if (isReady) process.channel.notify('stop', null);
    else process.kill();
    await process.end;
  }

  private ready(): RunningWorker[] {
    return [...this.workers].filter(({ isReady }) => isReady);
  }

  private accept(socket: Socket): void {
    socket.on('error', () => undefined);
    const leave = socket.remoteAddress === undefined ? undefined : this.deps.connections.enter(socket.remoteAddress);
    if (leave) this.table.add({ socket, leave });
    else socket.destroy();
  }

  private launch(): { started: Promise<void> } {
    const session: WorkerSession = new WorkerSession(this.deps.session, () => worker.process.channel);
    const worker: RunningWorker = {
      session,
      isReady: false,
      process: new WorkerProcess({
        admit: (facts) => session.admit(facts),
        settle: (settled) => session.settle(settled),
        reserveCap: (asked) => session.reserveCap(asked),
        settleCap: (settled) => session.settleCap(settled),
        changeHolder: (change) => session.changeHolder(change),
        enter: (asked) => session.enter(asked),
        leave: (left) => session.leave(left),
        report: (decision) => session.report(decision),
        refuse: (refused) => session.refuse(refused),
        metrics: () => session.metrics(),
        taken: ({ id }) => this.table.taken(worker, id),
        lost: ({ id }) => this.table.lost(worker, id),
        closed: ({ id }) => this.table.closed(worker, id),
      }),
      give: (id, { socket }) => worker.process.giveConnection(id, handleOf(socket)),
    };
    this.workers.add(worker);
    void worker.process.end.then((reason) => this.onEnd(worker, reason));
    return { started: this.startOne(worker) };
  }

  private async startOne(worker: RunningWorker): Promise<void> {
    const { reloaded } = this.deps.settings();
    await worker.process.start(this.deps.settings());
    // A reload while it was starting has not reached it.
    const latest = this.deps.settings().reloaded;
    if (latest !== undefined && latest !== reloaded) await worker.process.channel.call('reload', { text: latest });
    if (this.isStopping) return worker.process.kill();
    worker.process.channel.notify('deny', this.deps.denied());
    worker.isReady = true;
    this.table.join(worker);
  }

  private onEnd(worker: RunningWorker, { code, signal }: EndReason): void {
    const { isReady: wasReady, session, process } = worker;
    this.workers.delete(worker);
    worker.isReady = false;
    this.table.leave(worker);
    this.deps.metrics.retire(process);
    void session.end().catch((error: unknown) => this.deps.log.error({ err: error }, 'a request could not be settled'));
    if (this.isStopping || !wasReady) return;
    this.deps.log.error({ worker: process.pid, code, signal }, 'a worker has ended; another one starts');
    void this.replace(MIN_RETRY_MS);
  }

  /** Starts a worker in place of one that has ended, until one has started. */
  private async replace(retryMs: number): Promise<void> {
    if (this.isStopping) return;
    try {
      await this.launch().started;
      this.deps.log.info('a worker was replaced');
    } catch (error) {
      if (this.isStopping) return;
      this.deps.log.error({ err: error, retryMs }, 'a worker could not start; it is tried again');
      const timer = setTimeout(() => {
        this.retries.delete(timer);
        void this.replace(Math.min(2 * retryMs, MAX_RETRY_MS));
      }, retryMs);
      this.retries.add(timer);
    }
  }
}

/** The handle itself: a socket that is sent would be tracked by its server, which never closed then. */
const handleOf = (socket: Socket): SendHandle => (socket as unknown as { _handle: SendHandle })._handle;

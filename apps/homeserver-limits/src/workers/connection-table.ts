/** A worker as the connections see it. */
export interface ConnectionTaker<Connection> {
  /** Sends a connection. The worker answers with `taken` or `lost` under this number, or it dies. */
  give(id: number, connection: Connection): void;
}

export interface ConnectionTableDeps<Connection> {
  /** The connection is in another process now, or nowhere: this process no longer needs it. */
  release: (connection: Connection) => void;
  /** Nothing can take the connection. */
  refuse: (connection: Connection) => void;
  /** The connection has ended, in a worker or here. */
  onEnded: (connection: Connection) => void;
  /** Milliseconds since any time. */
  now?: () => number;
}

interface Worker<Connection> {
  readonly taker: ConnectionTaker<Connection>;
  /** The connections that it has, and those on the way to it. */
  readonly open: Map<number, Given<Connection>>;
  /** Until then, it has no file descriptor left. */
  fullUntilMs: number;
}

interface Given<Connection> {
  readonly connection: Connection;
  isTaken: boolean;
}

/** Connections that wait for a worker, such as while the only one starts again. */
const MAX_WAITING = 1_024;
/** A worker without file descriptors gets no connection for this time. */
const FULL_MS = 1_000;

/**
 * Which worker has which connection. A connection goes to the worker with the fewest. Until that worker has confirmed
 * it, this process keeps it too: when the worker dies or has no file descriptor left, another one gets it, under a
 * number of its own, so that no answer about the first attempt is taken for one about the second.
 */
export class ConnectionTable<Connection> {
  private readonly workers = new Map<ConnectionTaker<Connection>, Worker<Connection>>();
  private readonly waiting: Connection[] = [];
  private readonly now: () => number;
  private last = 0;
  private isClosed = false;

  constructor(private readonly deps: ConnectionTableDeps<Connection>) {
    this.now = deps.now ?? (() => performance.now());
  }

  /** The connections that workers have, those on the way to them, and those that wait for one. */
  get count(): number {
    return [...this.workers.values()].reduce((sum, { open }) => sum + open.size, this.waiting.length);
  }

  /** How many connections a worker has, or gets. */
  countOf(taker: ConnectionTaker<Connection>): number {
    return this.workers.get(taker)?.open.size ?? 0;
  }

  /** A worker can take connections. */
  join(taker: ConnectionTaker<Connection>): void {
    this.workers.set(taker, { taker, open: new Map(), fullUntilMs: -Infinity });
    for (const connection of this.waiting.splice(0)) this.add(connection);
  }

  /** A worker is gone, with the connections that it had. Those that it had not confirmed go to others. */
  leave(taker: ConnectionTaker<Connection>): void {
    const worker = this.workers.get(taker);
    this.workers.delete(taker);
    for (const { connection, isTaken } of worker?.open.values() ?? []) {
      if (isTaken) this.deps.onEnded(connection);
      else this.add(connection);
    }
  }

  /** Gives a connection to a worker; without one, it waits. */
  add(connection: Connection): void {
    if (this.isClosed) return this.end(connection);
    if (this.workers.size === 0) {
      if (this.waiting.length >= MAX_WAITING) this.end(connection);
      else this.waiting.push(connection);
      return;
    }
    const worker = this.leastLoaded();
    if (!worker) return this.end(connection);
    const id = ++this.last;
    worker.open.set(id, { connection, isTaken: false });
    worker.taker.give(id, connection);
  }

  taken(taker: ConnectionTaker<Connection>, id: number): void {
    const given = this.workers.get(taker)?.open.get(id);
    if (!given || given.isTaken) return;
    given.isTaken = true;
    this.deps.release(given.connection);
  }

  /** The worker has no file descriptor left. */
  lost(taker: ConnectionTaker<Connection>, id: number): void {
    const worker = this.workers.get(taker);
    const given = worker?.open.get(id);
    if (!worker || !given || given.isTaken) return;
    worker.open.delete(id);
    worker.fullUntilMs = this.now() + FULL_MS;
    this.add(given.connection);
  }

  closed(taker: ConnectionTaker<Connection>, id: number): void {
    const worker = this.workers.get(taker);
    const given = worker?.open.get(id);
    if (!worker || !given?.isTaken) return;
    worker.open.delete(id);
    worker.fullUntilMs = -Infinity;
    this.deps.onEnded(given.connection);
  }

  /** Ends the connections that wait, and takes no more. */
  close(): void {
    this.isClosed = true;
    for (const connection of this.waiting.splice(0)) this.end(connection);
  }

  private leastLoaded(): Worker<Connection> | undefined {
    const nowMs = this.now();
    let best: Worker<Connection> | undefined;
    for (const worker of this.workers.values()) {
      if (worker.fullUntilMs > nowMs) continue;
      if (!best || worker.open.size < best.open.size) best = worker;
    }
    return best;
  }

  private end(connection: Connection): void {
    this.deps.refuse(connection);
    this.deps.onEnded(connection);
  }
}

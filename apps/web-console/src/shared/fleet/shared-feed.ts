import { FleetFeed } from './fleet-feed.js';
import type { FleetSink, FleetState, FleetStore } from './fleet-store.js';
import type { FleetEntry } from './sorted-entries.js';

type Mutation = Exclude<keyof FleetSink<FleetEntry>, 'current' | 'position'>;

type Message =
  /** A tab took over the stream. */
  | { readonly type: 'leader' }
  /** A tab follows the leader. */
  | { readonly type: 'follower'; readonly needsState: boolean }
  | { readonly type: 'state'; readonly state: FleetState<FleetEntry>; readonly position: string | undefined }
  | { readonly type: 'mutation'; readonly mutation: Mutation; readonly args: readonly unknown[] }
  /** A follower asks for an immediate retry. */
  | { readonly type: 'retry' };

/**
 * Keeps the stores of all tabs up to date with one event stream per browser, because a browser opens only six
 * connections to a host. The tab that holds a lock is the leader: it has the stream and broadcasts each change to the
 * other tabs. When it closes, or has been hidden for a while, the next tab takes over. Browsers offer locks only over
 * HTTPS or on localhost; elsewhere, each tab has its own stream.
 */
export class SharedFeed<E extends FleetEntry> {
  private readonly name: string;
  private readonly feed: FleetFeed<E>;
  private channel: BroadcastChannel | undefined;
  private leave: (() => void) | undefined;
  private isLeader = false;
  private hasFollowers = false;
  /** Whether this tab may have missed changes: then the position of the others is not its own. */
  private needsState = true;

  constructor(
    path: string,
    private readonly store: FleetStore<E>,
  ) {
    this.name = `headgate:${path}`;
    this.feed = isShareable()
      ? new FleetFeed(path, this.broadcastingSink(), () => this.stepDown())
      : new FleetFeed(path, store);
  }

  start(): void {
    if (isShareable()) this.join();
    else this.feed.start();
  }

  stop(): void {
    document.removeEventListener('visibilitychange', this.onVisible);
    if (this.leave) this.leave();
    else this.feed.stop();
  }

  /** Retries immediately, in the tab that has the stream. */
  retryNow(): void {
    if (!this.channel || this.isLeader) this.feed.retryNow();
    else this.post({ type: 'retry' });
  }

  private join(): void {
    const channel = new BroadcastChannel(this.name);
    this.channel = channel;
    this.needsState = true;
    channel.addEventListener('message', ({ data }: MessageEvent<Message>) => this.receive(data));
    this.post({ type: 'follower', needsState: true });

    const waiting = new AbortController();
    let release = (): void => undefined;
    const left = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.leave = () => {
      this.leave = undefined;
      if (this.isLeader) this.feed.stop();
      this.isLeader = false;
      this.channel = undefined;
      channel.close();
      release();
      waiting.abort();
    };
    const lead = (): Promise<void> => {
      this.isLeader = true;
      this.post({ type: 'leader' });
      this.feed.start();
      return left;
    };
    // The request is rejected when this tab leaves before its turn.
    navigator.locks.request(this.name, { signal: waiting.signal }, lead).catch(() => undefined);
  }

  /** A hidden tab passes the stream on, and takes part again when it is visible. */
  private stepDown(): void {
    this.leave?.();
    document.addEventListener('visibilitychange', this.onVisible);
  }

  private readonly onVisible = (): void => {
    if (document.hidden) return;
    document.removeEventListener('visibilitychange', this.onVisible);
    this.join();
  };

  private receive(message: Message): void {
    switch (message.type) {
      case 'leader':
        return this.post({ type: 'follower', needsState: false });
      case 'follower':
        this.hasFollowers = true;
        if (this.isLeader && message.needsState && this.store.current().phase !== 'loading')
          this.post({ type: 'state', state: this.store.current(), position: this.store.position() });
        return;
      case 'state':
        if (this.isLeader) return;
        this.needsState = false;
        this.store.restore(message.state as FleetState<E>);
        if (message.position !== undefined) this.store.mark(message.position);
        return;
      case 'mutation':
        if (this.isLeader || (this.needsState && message.mutation === 'mark')) return;
        if (message.mutation === 'replace') this.needsState = false;
        this.apply(message.mutation, message.args);
        return;
      case 'retry':
        if (this.isLeader) this.feed.retryNow();
    }
  }

  private broadcastingSink(): FleetSink<E> {
    const broadcast =
      (mutation: Mutation) =>
      (...args: readonly unknown[]): void => {
        this.apply(mutation, args);
        // Copying the list takes time, even when no other tab receives it.
        if (this.hasFollowers) this.post({ type: 'mutation', mutation, args });
      };
    return {
      current: this.store.current,
      position: this.store.position,
      mark: broadcast('mark'),
      replace: broadcast('replace'),
      change: broadcast('change'),
      remove: broadcast('remove'),
      contextStatus: broadcast('contextStatus'),
      confirm: broadcast('confirm'),
      lost: broadcast('lost'),
    };
  }

  private apply(mutation: Mutation, args: readonly unknown[]): void {
    (this.store[mutation] as (...values: readonly unknown[]) => void).apply(this.store, [...args]);
  }

  private post(message: Message): void {
    this.channel?.postMessage(message);
  }
}

const isShareable = (): boolean =>
  (navigator as { locks?: LockManager }).locks !== undefined && typeof BroadcastChannel !== 'undefined';

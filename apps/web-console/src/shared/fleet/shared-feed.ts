import { PageFeed, STREAM_PATH } from './page-feed.js';
import type { PageSink, PageState, PageStore } from './page-store.js';

type Mutation = Exclude<keyof PageSink, 'events' | 'phase' | 'position'>;

const NAME = `headgate:${STREAM_PATH}`;

type Message =
  /** A tab took over the stream. */
  | { readonly type: 'leader' }
  /** A tab follows the leader. */
  | { readonly type: 'follower'; readonly needsState: boolean }
  | { readonly type: 'state'; readonly state: PageState }
  | { readonly type: 'mutation'; readonly mutation: Mutation; readonly args: readonly unknown[] }
  /** A follower asks for an immediate retry. */
  | { readonly type: 'retry' };

/**
 * Keeps all tabs up to date with one event stream per browser, because a browser opens only six
 * connections to a host. The tab that holds a lock is the leader: it has the stream and broadcasts each change to the
 * other tabs. When it closes, or has been hidden for a while, the next tab takes over. Browsers offer locks only over
 * HTTPS or on localhost; elsewhere, each tab has its own stream.
 */
export class SharedFeed {
  private readonly feed: PageFeed;
  private channel: BroadcastChannel | undefined;
  private leave: (() => void) | undefined;
  private isLeader = false;
  private hasFollowers = false;
  /** Whether a tab needs the state, which this one does not have yet. */
  private isStateAwaited = false;
  /** Whether this tab may have missed changes: then the position of the others is not its own. */
  private needsState = true;

  constructor(private readonly store: PageStore) {
    this.feed = isShareable() ? new PageFeed(this.broadcastingSink(), () => this.stepDown()) : new PageFeed(store);
  }

  start(): void {
    addEventListener('pagehide', this.onPageHide);
    this.open();
  }

  stop(): void {
    removeEventListener('pagehide', this.onPageHide);
    removeEventListener('pageshow', this.onPageShow);
    this.close();
  }

  /** Retries immediately, in the tab that has the stream. */
  retryNow(): void {
    if (!this.channel || this.isLeader) this.feed.retryNow();
    else this.post({ type: 'retry' });
  }

  private open(): void {
    if (isShareable()) this.join();
    else this.feed.start();
  }

  private close(): void {
    document.removeEventListener('visibilitychange', this.onVisible);
    if (this.leave) this.leave();
    else this.feed.stop();
  }

  /** A browser may keep a page that was left for its back button, and the page would keep the lock. */
  private readonly onPageHide = (): void => {
    this.close();
    addEventListener('pageshow', this.onPageShow, { once: true });
  };

  private readonly onPageShow = (): void => this.open();

  private join(): void {
    const channel = new BroadcastChannel(NAME);
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
    navigator.locks.request(NAME, { signal: waiting.signal }, lead).catch(() => undefined);
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
        return this.post({ type: 'follower', needsState: this.needsState });
      case 'follower':
        this.hasFollowers = true;
        if (!this.isLeader || !message.needsState) return;
        if (this.store.isComplete()) this.post({ type: 'state', state: this.store.state() });
        else this.isStateAwaited = true;
        return;
      case 'state':
        if (this.isLeader) return;
        this.needsState = false;
        this.store.restore(message.state);
        return;
      case 'mutation':
        if (this.isLeader || (this.needsState && message.mutation === 'mark')) return;
        this.apply(message.mutation, message.args);
        return;
      case 'retry':
        if (this.isLeader) this.feed.retryNow();
    }
  }

  private broadcastingSink(): PageSink {
    const broadcast =
      (mutation: Mutation) =>
      (...args: readonly unknown[]): void => {
        this.apply(mutation, args);
        // Copying the lists takes time, even when no other tab receives them.
        if (this.hasFollowers) this.post({ type: 'mutation', mutation, args });
        if (this.isStateAwaited && this.store.isComplete()) {
          this.isStateAwaited = false;
          this.post({ type: 'state', state: this.store.state() });
        }
      };
    return {
      events: this.store.events,
      phase: this.store.phase,
      position: this.store.position,
      mark: broadcast('mark'),
      receive: broadcast('receive'),
      polled: broadcast('polled'),
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

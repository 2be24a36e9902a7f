import { ApiError, messageOf } from '../api/api-error.js';
import type { ContextStatus, FleetSink } from './fleet-store.js';
import type { FleetEntry } from './sorted-entries.js';
import { StreamWatch } from './stream-watch.js';

const FIRST_RETRY_MS = 1_000;
/** With the time of a request, the page is live within 5 s after the service is back, however long it was away. */
const MAX_RETRY_MS = 4_000;

/** A stream that failed this often without data is probably blocked by a proxy, so the list is polled instead. */
const ATTEMPTS_BEFORE_POLLING = 2;
const POLL_MS = 5_000;

/**
 * Keeps a store up to date with the service's event stream, or with polling while the stream fails. Retries forever,
 * with growing delays.
 */
export class FleetFeed<E extends FleetEntry> {
  private source: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private etag: string | undefined;
  private closed = true;
  private readonly watch = new StreamWatch({
    alive: () => this.source !== undefined,
    broken: () => this.broken(),
    reopen: () => this.retryNow(),
    pause: () => this.onHidden(),
    resume: () => this.closed && this.open(),
  });

  /**
   * @param path of a list that is also an event stream
   * @param onHidden called when the tab has been hidden for a while; by default, the stream is closed until the tab is
   *   visible
   */
  constructor(
    private readonly path: string,
    private readonly store: FleetSink<E>,
    private readonly onHidden = (): void => this.close(),
  ) {}

  /** Opens the stream and keeps it open while the page is visible. */
  start(): void {
    this.watch.start();
    this.open();
  }

  stop(): void {
    this.watch.stop();
    this.close();
  }

  /** Retries immediately. */
  retryNow(): void {
    this.close();
    this.open();
  }

  private open(): void {
    this.closed = false;
    // A new EventSource can't send the header Last-Event-ID, so the position is in the query.
    let position = this.store.position();
    const query = position === undefined ? '' : `?lastEventId=${encodeURIComponent(position)}`;
    const source = new EventSource(`${this.path}${query}`);
    this.source = source;
    const on = <T>(event: string, handle: (data: T) => void): void =>
      source.addEventListener(event, (message) => {
        const { data, lastEventId } = message as MessageEvent<string>;
        // A stream that continues sends no snapshot.
        if (position !== undefined && event !== 'snapshot') this.continues();
        position = undefined;
        handle(JSON.parse(data) as T);
        if (lastEventId !== '') this.store.mark(lastEventId);
      });

    on<E[]>('snapshot', (entries) => {
      this.failures = 0;
      // The store no longer holds the list with this tag.
      this.etag = undefined;
      this.store.replace(entries, 'live');
    });
    on<E>('changed', (entry) => this.store.change(entry));
    on<{ ref: string }>('removed', ({ ref }) => this.store.remove(ref));
    on<ContextStatus & { context: string }>('status', ({ context, ...status }) =>
      this.store.contextStatus(context, status),
    );
    // The browser's own retry reports no reason and has no back-off, so a broken stream is closed and reopened here.
    source.onerror = () => {
      if (this.source === source) this.broken();
    };
  }

  private continues(): void {
    this.failures = 0;
    this.store.confirm('live');
  }

  private close(): void {
    this.closed = true;
    this.source?.close();
    this.source = undefined;
    clearTimeout(this.timer);
  }

  private broken(): void {
    this.source?.close();
    this.source = undefined;
    void this.streamFailed();
  }

  private async streamFailed(): Promise<void> {
    this.failures++;
    await this.poll();
    if (this.closed) return;
    const backOff = Math.min(FIRST_RETRY_MS * 2 ** (this.failures - 1), MAX_RETRY_MS);
    const polls = this.store.current().phase === 'polling' && this.failures >= ATTEMPTS_BEFORE_POLLING;
    this.timer = setTimeout(() => this.open(), polls ? POLL_MS : backOff);
  }

  /** Fetches the list once: the response shows why the stream failed and keeps the list fresh meanwhile. */
  private async poll(): Promise<void> {
    try {
      const response = await fetch(this.path, {
        headers: { accept: 'application/json', ...(this.etag ? { 'if-none-match': this.etag } : {}) },
      }).catch(() => {
        throw ApiError.unreachable();
      });
      if (response.status === 304) return this.store.confirm('polling');
      if (!response.ok) throw await ApiError.from(response);
      const entries = (await response.json()) as E[];
      if (this.closed) return;
      this.etag = response.headers.get('etag') ?? undefined;
      this.store.replace(entries, 'polling');
    } catch (error) {
      if (!this.closed) this.store.lost(messageOf(error), Date.now());
    }
  }
}

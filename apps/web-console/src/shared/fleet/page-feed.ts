import type { InstanceCollection } from '../api/instance-path.js';
import { ApiError, messageOf } from '../api/api-error.js';
import { COLLECTIONS, type PageSink } from './page-store.js';
import { StreamWatch } from './stream-watch.js';

export const STREAM_PATH = '/api/ext/stream';

const FIRST_RETRY_MS = 1_000;
/** With the time of a request, the page is live within 5 s after the service is back, however long it was away. */
const MAX_RETRY_MS = 4_000;

/** A stream that failed this often without data is probably blocked by a proxy, so the lists are polled instead. */
const ATTEMPTS_BEFORE_POLLING = 2;
const POLL_MS = 5_000;

/**
 * Keeps a page up to date with the service's event stream, or its lists with polling while the stream fails. Retries
 * forever, with growing delays.
 */
export class PageFeed {
  private source: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private readonly etags = new Map<InstanceCollection, string>();
  private closed = true;
  private readonly watch = new StreamWatch({
    alive: () => this.source !== undefined,
    broken: () => this.broken(),
    reopen: () => this.retryNow(),
    pause: () => this.onHidden(),
    resume: () => this.closed && this.open(),
  });

  /**
   * @param onHidden called when the tab has been hidden for a while; by default, the stream is closed until the tab is
   *   visible
   */
  constructor(
    private readonly sink: PageSink,
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
    const position = this.sink.position();
    const query = position === undefined ? '' : `?lastEventId=${encodeURIComponent(position)}`;
    const source = new EventSource(`${STREAM_PATH}${query}`);
    this.source = source;
    this.watch.received();
    for (const name of this.sink.events)
      source.addEventListener(name, (message) => {
        const { data, lastEventId } = message as MessageEvent<string>;
        this.watch.received();
        this.failures = 0;
        // The page no longer has the lists with these tags.
        this.etags.clear();
        this.sink.receive(name, JSON.parse(data));
        if (lastEventId !== '') this.sink.mark(lastEventId);
      });
    // The browser's own retry reports no reason and has no back-off, so a broken stream is closed and reopened here.
    source.onerror = () => {
      if (this.source === source) this.broken();
    };
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
    await Promise.all(COLLECTIONS.map((collection) => this.poll(collection)));
    if (this.closed) return;
    const backOff = Math.min(FIRST_RETRY_MS * 2 ** (this.failures - 1), MAX_RETRY_MS);
    const polls = this.sink.phase() === 'polling' && this.failures >= ATTEMPTS_BEFORE_POLLING;
    this.timer = setTimeout(() => this.open(), polls ? POLL_MS : backOff);
  }

  /** Fetches a list once: the response shows why the stream failed and keeps the list fresh meanwhile. */
  private async poll(collection: InstanceCollection): Promise<void> {
    const etag = this.etags.get(collection);
    try {
      const response = await fetch(`/api/${collection}`, {
        headers: { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) },
      }).catch(() => {
        throw ApiError.unreachable();
      });
      if (response.status === 304) return this.sink.polled(collection, undefined);
      if (!response.ok) throw await ApiError.from(response);
      const entries = (await response.json()) as unknown[];
      if (this.closed) return;
      const tag = response.headers.get('etag');
      if (tag === null) this.etags.delete(collection);
      else this.etags.set(collection, tag);
      this.sink.polled(collection, entries);
    } catch (error) {
      if (!this.closed) this.sink.lost(collection, messageOf(error), Date.now());
    }
  }
}

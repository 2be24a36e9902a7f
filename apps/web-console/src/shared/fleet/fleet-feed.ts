import type { VmView } from '@headgate/api-contracts';
import { ApiError, messageOf } from '../api/api-error.js';
import type { ContextStatus, FleetStore } from './fleet-store.js';

const PATH = '/api/vms';
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;

/** A stream that brought nothing for so many attempts is refused by something in between: the list is polled instead. */
const ATTEMPTS_BEFORE_POLLING = 2;
const POLL_MS = 5_000;

/**
 * Keeps the store as the service sees the fleet: by its event stream, and where that fails by asking for the list.
 * It never gives up; it only waits longer.
 */
export class FleetFeed {
  private source: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private etag: string | undefined;
  private closed = false;

  constructor(private readonly store: FleetStore) {}

  open(): void {
    this.closed = false;
    const source = new EventSource(PATH);
    this.source = source;
    const on = <T>(event: string, take: (data: T) => void): void =>
      source.addEventListener(event, (message) => take(JSON.parse((message as MessageEvent<string>).data) as T));

    on<VmView[]>('snapshot', (entries) => {
      this.failures = 0;
      // What is shown is no longer what that tag stood for.
      this.etag = undefined;
      this.store.replace(entries, 'live');
    });
    on<VmView>('changed', (entry) => this.store.change(entry));
    on<{ ref: string }>('removed', ({ ref }) => this.store.remove(ref));
    on<ContextStatus & { context: string }>('status', ({ context, ...status }) =>
      this.store.contextStatus(context, status),
    );
    // The browser's own retry can't tell why and has no back-off, so a broken stream is closed and opened again here.
    source.onerror = () => {
      source.close();
      if (this.source === source) void this.streamFailed();
    };
  }

  close(): void {
    this.closed = true;
    this.source?.close();
    this.source = undefined;
    clearTimeout(this.timer);
  }

  /** Asks at once instead of waiting for the next attempt. */
  retryNow(): void {
    this.close();
    this.open();
  }

  private async streamFailed(): Promise<void> {
    this.failures++;
    await this.poll();
    if (this.closed) return;
    const backOff = Math.min(FIRST_RETRY_MS * 2 ** (this.failures - 1), LONGEST_RETRY_MS);
    const polls = this.store.current().phase === 'polling' && this.failures >= ATTEMPTS_BEFORE_POLLING;
    this.timer = setTimeout(() => this.open(), polls ? POLL_MS : backOff);
  }

  /** One question: it tells why the stream broke, and keeps the list fresh meanwhile. */
  private async poll(): Promise<void> {
    try {
      const response = await fetch(PATH, {
        headers: { accept: 'application/json', ...(this.etag ? { 'if-none-match': this.etag } : {}) },
      }).catch(() => {
        throw ApiError.unreachable();
      });
      if (response.status === 304) return this.store.phase('polling');
      if (!response.ok) throw await ApiError.from(response);
      const entries = (await response.json()) as VmView[];
      if (this.closed) return;
      this.etag = response.headers.get('etag') ?? undefined;
      this.store.replace(entries, 'polling');
    } catch (error) {
      if (!this.closed) this.store.phase('lost', messageOf(error));
    }
  }
}

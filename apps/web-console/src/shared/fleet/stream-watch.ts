interface WatchedStream {
  /** Whether the stream seems to be open. */
  alive(): boolean;
  /** Called when nothing arrives although the stream seems to be open. */
  broken(): void;
  /** Called when the stream may be dead. */
  reopen(): void;
  pause(): void;
  resume(): unknown;
}

const CHECK_MS = 5_000;
/** The service sends something at least every 15 seconds. */
const MAX_SILENCE_MS = 35_000;
/** A timer that fires this late means that the machine was asleep. */
const SLEEP_MS = 60_000;
/** A short visit to another tab does not cost a new snapshot. */
const HIDDEN_MS = 60_000;

/**
 * Monitors an event stream where the browser does not. A dead connection can look open forever, so it is broken without
 * heartbeats. And a browser opens only six connections to a host, so the stream of a hidden tab is closed after a
 * while.
 */
export class StreamWatch {
  private checking: ReturnType<typeof setInterval> | undefined;
  private hiding: ReturnType<typeof setTimeout> | undefined;
  private checkedAt = 0;
  private receivedAt = 0;

  constructor(private readonly stream: WatchedStream) {}

  start(): void {
    this.checkedAt = Date.now();
    this.received();
    this.checking = setInterval(() => this.check(), CHECK_MS);
    document.addEventListener('visibilitychange', this.onVisibility);
    if (document.hidden) this.onVisibility();
  }

  stop(): void {
    clearInterval(this.checking);
    clearTimeout(this.hiding);
    document.removeEventListener('visibilitychange', this.onVisibility);
  }

  /** Called when the stream was opened, and with each event. */
  received(): void {
    this.receivedAt = Date.now();
  }

  private readonly onVisibility = (): void => {
    clearTimeout(this.hiding);
    if (document.hidden) this.hiding = setTimeout(() => this.stream.pause(), HIDDEN_MS);
    else this.stream.resume();
  };

  private check(): void {
    const now = Date.now();
    const hasSlept = now - this.checkedAt > SLEEP_MS;
    this.checkedAt = now;
    if (!this.stream.alive()) return;
    if (hasSlept) this.stream.reopen();
    else if (now - this.receivedAt > MAX_SILENCE_MS) this.stream.broken();
  }
}

interface WatchedStream {
  /** Whether the stream seems to be open. */
  alive(): boolean;
  /** Called when the service does not respond although the stream seems to be open. */
  broken(): void;
  /** Called when the stream may be dead. */
  reopen(): void;
  pause(): void;
  resume(): unknown;
}

const PROBE_MS = 20_000;
const PROBE_TIMEOUT_MS = 10_000;
/** A timer that fires this late means that the machine was asleep. */
const SLEEP_MS = 3 * PROBE_MS;
/** A short visit to another tab does not cost a new snapshot. */
const HIDDEN_MS = 60_000;

/**
 * Monitors an event stream where the browser does not. A dead connection can look open forever, so the service is
 * probed. And a browser opens only six connections to a host, so the stream of a hidden tab is closed after a while.
 */
export class StreamWatch {
  private probing: ReturnType<typeof setInterval> | undefined;
  private hiding: ReturnType<typeof setTimeout> | undefined;
  private probedAt = 0;

  constructor(private readonly stream: WatchedStream) {}

  start(): void {
    this.probedAt = Date.now();
    this.probing = setInterval(() => void this.probe(), PROBE_MS);
    document.addEventListener('visibilitychange', this.onVisibility);
    if (document.hidden) this.onVisibility();
  }

  stop(): void {
    clearInterval(this.probing);
    clearTimeout(this.hiding);
    document.removeEventListener('visibilitychange', this.onVisibility);
  }

  private readonly onVisibility = (): void => {
    clearTimeout(this.hiding);
    if (document.hidden) this.hiding = setTimeout(() => this.stream.pause(), HIDDEN_MS);
    else this.stream.resume();
  };

  private async probe(): Promise<void> {
    const hasSlept = Date.now() - this.probedAt > SLEEP_MS;
    this.probedAt = Date.now();
    if (!this.stream.alive()) return;
    if (hasSlept) return this.stream.reopen();
    // Any response counts; the question is only whether the service is reachable.
    const isReachable = await fetch('/healthz', { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).then(
      () => true,
      () => false,
    );
    if (!isReachable && this.stream.alive()) this.stream.broken();
  }
}

interface WatchedStream {
  /** Whether the stream counts as open. */
  alive(): boolean;
  /** The service does not answer although the stream looks open. */
  broken(): void;
  /** The stream may have died unnoticed. */
  reopen(): void;
  pause(): void;
  resume(): unknown;
}

const PROBE_MS = 20_000;
const PROBE_TIMEOUT_MS = 10_000;
/** A timer that comes so late was held up by a machine that slept. */
const SLEPT_MS = 3 * PROBE_MS;
/** Short looks into another tab shall not cost a new snapshot. */
const OUT_OF_SIGHT_MS = 60_000;

/**
 * Looks after an event stream where the browser does not: a connection that died without a word looks open for ever; and a
 * browser has six connections to a host, so that tabs nobody looks at would keep the seventh waiting.
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
  }

  stop(): void {
    clearInterval(this.probing);
    clearTimeout(this.hiding);
    document.removeEventListener('visibilitychange', this.onVisibility);
  }

  private readonly onVisibility = (): void => {
    clearTimeout(this.hiding);
    if (document.hidden) this.hiding = setTimeout(() => this.stream.pause(), OUT_OF_SIGHT_MS);
    else this.stream.resume();
  };

  private async probe(): Promise<void> {
    const slept = Date.now() - this.probedAt > SLEPT_MS;
    this.probedAt = Date.now();
    if (!this.stream.alive()) return;
    if (slept) return this.stream.reopen();
    // Any answer will do: what is asked is whether the service is in reach at all.
    const reached = await fetch('/healthz', { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).then(
      () => true,
      () => false,
    );
    if (!reached && this.stream.alive()) this.stream.broken();
  }
}

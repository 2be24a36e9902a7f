import type { Clock } from '@headgate/domain-contracts';

/** A guest that still runs after this time is considered to ignore the request. */
const SHUTDOWN_GRACE_MS = 60_000;

/**
 * A booting guest drops ACPI power button events, so the request is repeated after these delays: for as long as a move
 * waits for the guest, which may boot slowly.
 */
const RETRY_DELAYS_MS = [5000, 15_000, 30_000, 60_000, 90_000, 120_000, 150_000];

const IGNORED = 'The guest ignores the shutdown request: force stop it.';

interface StopRequest {
  reason?: string;
  cancel: () => void;
}

/**
 * Graceful shutdowns in progress. libvirt reports a guest that is shutting down as running; this records the request.
 */
export class StopRequests {
  private readonly requests = new Map<string, StopRequest>();
  private readonly listeners = new Set<(uuid: string) => void>();

  constructor(private readonly clock: Clock) {}

  /** Called with each domain whose shutdown begins, ends or turns out to be ignored. */
  onChange(listener: (uuid: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  of(uuid: string): { readonly reason?: string } | undefined {
    return this.requests.get(uuid);
  }

  /** Whether the guest is expected to end. One that ignores the request may go on. */
  isStopping(uuid: string): boolean {
    const request = this.requests.get(uuid);
    return request !== undefined && request.reason === undefined;
  }

  /** @param retry sends the shutdown request again */
  begin(uuid: string, retry: () => void): void {
    this.requests.get(uuid)?.cancel();
    const timers = RETRY_DELAYS_MS.map((ms) => this.clock.after(ms, retry));
    const request: StopRequest = { cancel: () => timers.forEach((cancel) => cancel()) };
    timers.push(
      this.clock.after(SHUTDOWN_GRACE_MS, () => {
        request.reason = IGNORED;
        this.notify(uuid);
      }),
    );
    this.requests.set(uuid, request);
    this.notify(uuid);
  }

  end(uuid: string): void {
    const request = this.requests.get(uuid);
    if (!request) return;
    request.cancel();
    this.requests.delete(uuid);
    this.notify(uuid);
  }

  close(): void {
    for (const { cancel } of this.requests.values()) cancel();
    this.requests.clear();
    this.listeners.clear();
  }

  private notify(uuid: string): void {
    for (const listener of this.listeners) listener(uuid);
  }
}

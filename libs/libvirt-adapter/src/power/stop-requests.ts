import type { Clock } from '@headgate/domain-contracts';

/** After this many milliseconds a guest counts as one that ignores its power button. */
const GUEST_MAY_TAKE_MS = 60_000;

/** A guest that is still starting drops the press of its power button: it is pressed again after so many milliseconds. */
const PRESS_AGAIN_AFTER_MS = [5000, 15_000, 30_000];

const IGNORED = 'The guest does not react to its power button: stop it with force.';

interface StopRequest {
  reason?: string;
  cancel: () => void;
}

/** The graceful stops under way. libvirt shows a guest that goes down as running; this says that it was asked to. */
export class StopRequests {
  private readonly requests = new Map<string, StopRequest>();
  private readonly listeners = new Set<(uuid: string) => void>();

  constructor(private readonly clock: Clock) {}

  /** Hears of every domain whose stop begins, is taken back or turns out to be ignored. */
  onChange(listener: (uuid: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  of(uuid: string): { readonly reason?: string } | undefined {
    return this.requests.get(uuid);
  }

  /** @param pressAgain presses the guest's power button once more */
  begin(uuid: string, pressAgain: () => void): void {
    this.requests.get(uuid)?.cancel();
    const timers = PRESS_AGAIN_AFTER_MS.map((ms) => this.clock.after(ms, pressAgain));
    const request: StopRequest = { cancel: () => timers.forEach((cancel) => cancel()) };
    timers.push(
      this.clock.after(GUEST_MAY_TAKE_MS, () => {
        request.reason = IGNORED;
        this.tell(uuid);
      }),
    );
    this.requests.set(uuid, request);
    this.tell(uuid);
  }

  end(uuid: string): void {
    const request = this.requests.get(uuid);
    if (!request) return;
    request.cancel();
    this.requests.delete(uuid);
    this.tell(uuid);
  }

  close(): void {
    for (const { cancel } of this.requests.values()) cancel();
    this.requests.clear();
    this.listeners.clear();
  }

  private tell(uuid: string): void {
    for (const listener of this.listeners) listener(uuid);
  }
}

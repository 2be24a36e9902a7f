import type { Clock, TaskTransfer } from '@headgate/domain-contracts';

/** The speed is that of these last seconds, so that the estimate follows a change but not each pause. */
const WINDOW_MS = 15_000;
const MIN_WINDOW_MS = 1_000;
const SAMPLE_INTERVAL_MS = 500;

/** Measures the speed of a transfer and estimates its remaining time. */
export class TransferMeter {
  private samples: { readonly at: number; readonly bytes: number }[] = [];

  constructor(private readonly clock: Clock) {}

  report(doneBytes: number, totalBytes?: number): TaskTransfer {
    const now = this.clock.now();
    const last = this.samples.at(-1);
    // A step that begins again has transferred less.
    if (last && doneBytes < last.bytes) this.samples = [];
    if (!last || now - last.at >= SAMPLE_INTERVAL_MS) this.samples.push({ at: now, bytes: doneBytes });
    while (this.samples.length > 2 && now - (this.samples[0]?.at ?? now) > WINDOW_MS) this.samples.shift();
    const [first] = this.samples;
    const elapsed = now - (first?.at ?? now);
    const bytesPerSecond =
      first && elapsed >= MIN_WINDOW_MS ? Math.round(((doneBytes - first.bytes) * 1000) / elapsed) : null;
    const left = totalBytes === undefined ? null : Math.max(0, totalBytes - doneBytes);
    const remainingSeconds = left !== null && bytesPerSecond ? Math.ceil(left / bytesPerSecond) : null;
    return { doneBytes, totalBytes: totalBytes ?? null, bytesPerSecond, remainingSeconds };
  }
}

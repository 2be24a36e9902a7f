import { createHash } from 'node:crypto';
import { DomainError, formatRef, type Clock, type ConsoleSource, type InstanceRef } from '@headgate/domain-contracts';
import type { ConsoleBroker } from '../console-broker.js';
import { encodePng } from './png.js';
import { smaller } from './picture.js';

/** A picture is not taken again while it is younger. */
const FRESH_MS = 5_000;
/** How long the last picture is shown while the screen can't be opened. */
const KEPT_MS = 600_000;
const MAX_KEPT_BYTES = 33_554_432;
const MAX_AT_ONCE = 8;
const MAX_WAITING = 64;

/** A picture of the screen of a VM. */
export interface ScreenPicture {
  readonly png: Buffer;
  /** In quotes, as in the header. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly takenAtMs: number;
}

/**
 * Small pictures of screens. Each is at most 5 s old, unless another program has the screen or it does not answer: then
 * the last one of the past 10 minutes is returned.
 */
export class ScreenPictures {
  /** The least recently taken first. */
  private readonly kept = new Map<string, ScreenPicture>();
  private keptBytes = 0;
  private readonly pending = new Map<string, Promise<ScreenPicture>>();
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly broker: ConsoleBroker,
    private readonly clock: Clock,
  ) {}

  /**
   * @param uid of the VM: one that is created under the same name has pictures of its own
   * @param maxWidth in pixels
   * @throws DomainError those of `ConsoleBroker.frameOf`
   */
  async take(vm: { ref: InstanceRef; uid: string }, source: ConsoleSource, maxWidth: number): Promise<ScreenPicture> {
    const key = `${formatRef(vm.ref)} ${vm.uid} ${maxWidth}`;
    const last = this.kept.get(key);
    if (last && this.clock.now() - last.takenAtMs < FRESH_MS) return last;
    try {
      return await this.shared(key, () => this.draw(vm.ref, source, maxWidth));
    } catch (error) {
      const passes = DomainError.is(error, 'BUSY', 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');
      if (passes && last && this.clock.now() - last.takenAtMs < KEPT_MS) return last;
      throw error;
    }
  }

  private shared(key: string, draw: () => Promise<ScreenPicture>): Promise<ScreenPicture> {
    const pending =
      this.pending.get(key) ??
      this.inTurn(draw)
        .then((picture) => this.keep(key, picture))
        .finally(() => this.pending.delete(key));
    this.pending.set(key, pending);
    return pending;
  }

  private async draw(ref: InstanceRef, source: ConsoleSource, maxWidth: number): Promise<ScreenPicture> {
    const frame = await this.broker.frameOf(ref, source);
    const takenAtMs = this.clock.now();
    const png = await encodePng(await smaller(frame, maxWidth));
    return { png, takenAtMs, etag: `"${createHash('sha256').update(png).digest('base64url').slice(0, 22)}"` };
  }

  private keep(key: string, picture: ScreenPicture): ScreenPicture {
    this.forget(key);
    this.kept.set(key, picture);
    this.keptBytes += picture.png.length;
    for (const oldest of this.kept.keys()) {
      if (this.keptBytes <= MAX_KEPT_BYTES) break;
      this.forget(oldest);
    }
    return picture;
  }

  private forget(key: string): void {
    this.keptBytes -= this.kept.get(key)?.png.length ?? 0;
    this.kept.delete(key);
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < MAX_AT_ONCE) this.running++;
    else if (this.waiting.length >= MAX_WAITING) throw tooMany();
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The turn is handed over directly, so that a new caller can't take it in between.
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }
}

const tooMany = (): DomainError =>
  new DomainError('BUSY', 'Too many pictures of screens are being taken: request this one again in a few seconds.');

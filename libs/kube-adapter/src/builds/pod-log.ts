import type { FollowedBuild } from '@headgate/domain-contracts';
import { KubeApiError } from '../api/kube-api-error.js';
import type { PodObject } from '../api/object-types.js';
import { pathOf, PODS } from '../api/resources.js';
import { LineSplitter } from '../watch/read-lines.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { CONTAINER } from './build-objects.js';

/** A line of a log with timestamps. */
const TIMESTAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d) ?(.*)$/s;
const FRACTION_DIGITS = 9;
/** How often the position is saved. */
const SAVE_INTERVAL_MS = 5_000;
const RETRY_MS = 1_000;
/** A log that can't be read at the end of the build does not keep it from ending. */
const MAX_RETRIES = 5;
/** The kubelet sends the response when the first line exists, or the container ends. */
const OPEN_TIMEOUT_MS = 60_000;

/**
 * Passes on the lines of a container from a position on, over any number of lost connections. Lines of one position
 * come once.
 */
export class PodLog {
  lastLine = '';
  private position: string;
  private savedAtMs: number;
  private reading: Promise<void> | undefined;
  private readonly finishing = new AbortController();

  constructor(
    private readonly deps: WatchDeps,
    private readonly report: FollowedBuild,
    private readonly signal: AbortSignal,
  ) {
    this.position = report.position ?? '';
    this.savedAtMs = deps.clock.now();
  }

  start(pod: PodObject): void {
    this.reading ??= this.readAll(pod);
  }

  /** Resolves when the log was read to its end. */
  async finish(): Promise<void> {
    this.finishing.abort();
    await this.reading;
    await this.save();
  }

  private async readAll({ metadata }: PodObject): Promise<void> {
    let failures = 0;
    while (!this.signal.aborted) {
      // Nothing is added to the log after the end of the container, which may have come before this reading began.
      const isLast = this.finishing.signal.aborted;
      try {
        await this.read(metadata);
        failures = 0;
        if (isLast) return;
      } catch (error) {
        if (this.signal.aborted || KubeApiError.has(error, 404)) return;
        if (++failures > MAX_RETRIES && isLast) return;
        if (isLast) await this.deps.clock.delay(RETRY_MS, this.signal);
      }
      if (!isLast) await this.deps.clock.delay(RETRY_MS, AbortSignal.any([this.finishing.signal, this.signal]));
    }
  }

  private async read({ namespace, name }: PodObject['metadata']): Promise<void> {
    // The server knows whole seconds only, so it repeats the lines of this second.
    const sinceTime = this.position === '' ? undefined : `${this.position.slice(0, 19)}Z`;
    const query = { container: CONTAINER, follow: true, timestamps: true, sinceTime };
    const path = pathOf(PODS, { namespace, name, subresource: 'log' });
    const { signal } = this;
    const stream = await this.deps.api.stream(path, { query, signal, timeoutMs: OPEN_TIMEOUT_MS });
    const lines = new LineSplitter();
    try {
      for await (const chunk of stream) for (const line of lines.push(chunk as Buffer)) this.receive(line);
    } finally {
      stream.destroy();
    }
  }

  private receive(line: string): void {
    const [, seconds, fraction = '', zone, text] = TIMESTAMPED.exec(line) ?? [];
    if (seconds === undefined || text === undefined) return this.report.log(line);
    const utc = new Date(Date.parse(`${seconds}${zone}`)).toISOString().slice(0, 19);
    const position = `${utc}.${fraction.padEnd(FRACTION_DIGITS, '0')}`;
    // The last line of an earlier attempt comes again.
    this.lastLine = text;
    if (position <= this.position) return;
    this.position = position;
    this.report.log(text);
    if (this.deps.clock.now() - this.savedAtMs >= SAVE_INTERVAL_MS) void this.save().catch(() => undefined);
  }

  private async save(): Promise<void> {
    this.savedAtMs = this.deps.clock.now();
    if (this.position !== '') await this.report.savePosition(this.position);
  }
}

import { PassThrough, type Readable } from 'node:stream';
import { ContainerLogs, DomainError, formatRef, type InstanceRef, type LogRequest } from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

interface LogLine {
  readonly time: string;
  readonly text: string;
}

/** The clock of these logs: one line per second. */
const FIRST_LINE_MS = Date.parse('2026-01-02T00:00:00Z');

/** The lines that a test has written. A container has written one when it is first read. */
export class MemoryContainerLogs extends ContainerLogs {
  /** By the ref and the uid of the container. */
  private readonly logs = new Map<string, LogLine[]>();
  private readonly followers = new Map<PassThrough, { readonly key: string; readonly timestamps: boolean }>();

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  /** How many readers follow a log. */
  get followerCount(): number {
    return this.followers.size;
  }

  /** Writes a line as the program of a container would. */
  write(ref: InstanceRef, text: string): void {
    const key = this.keyOf(ref);
    const lines = this.linesOf(key);
    const line = { time: new Date(FIRST_LINE_MS + lines.length * 1000).toISOString(), text };
    lines.push(line);
    for (const [stream, follower] of this.followers)
      if (follower.key === key) stream.write(format(line, follower.timestamps));
  }

  /** Ends the streams of those who follow, as the end of the container would, or breaks them off. */
  endFollowers(error?: Error): void {
    for (const stream of this.followers.keys()) {
      if (error) stream.destroy(error);
      else stream.end();
    }
  }

  override async open(ref: InstanceRef, request: LogRequest, signal: AbortSignal): Promise<Readable> {
    signal.throwIfAborted();
    const { tailLines, since, follow = false, previous = false, timestamps = false } = request;
    if (this.engine.container(ref).phase !== 'Running')
      throw new DomainError('WRONG_STATE', `${ref.name} is not running, so it has no log.`);
    if (previous) throw new DomainError('WRONG_STATE', `${ref.name} has no previous log.`);
    const key = this.keyOf(ref);
    const recent = this.linesOf(key).filter(({ time }) => since === undefined || Date.parse(time) >= Date.parse(since));
    const shown = tailLines === undefined ? recent : tailLines === 0 ? [] : recent.slice(-tailLines);
    const stream = new PassThrough();
    for (const line of shown) stream.write(format(line, timestamps));
    if (!follow) return stream.end();
    this.followers.set(stream, { key, timestamps });
    stream.once('close', () => this.followers.delete(stream));
    const leave = (): void => void stream.destroy();
    signal.addEventListener('abort', leave, { once: true });
    stream.once('close', () => signal.removeEventListener('abort', leave));
    return stream;
  }

  private keyOf(ref: InstanceRef): string {
    return `${formatRef(ref)} ${this.engine.container(ref).uid}`;
  }

  private linesOf(key: string): LogLine[] {
    const known = this.logs.get(key) ?? [{ time: new Date(FIRST_LINE_MS).toISOString(), text: 'ready' }];
    this.logs.set(key, known);
    return known;
  }
}

const format = ({ time, text }: LogLine, timestamps: boolean): string => `${timestamps ? `${time} ` : ''}${text}\n`;

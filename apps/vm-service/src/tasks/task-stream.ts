import type { Writable } from 'node:stream';
import type { TaskStreamEvents } from '@headgate/api-contracts';
import type { Clock } from '@headgate/domain-contracts';
import type { LiveTask } from '@headgate/tasks';
import { presentTask } from './present-task.js';

/** A client that reads nothing for this long is disconnected; a browser reconnects. */
const STALL_TIMEOUT_MS = 60_000;
/** Changes within this time are sent together. */
const FLUSH_INTERVAL_MS = 100;

/** Where a client is: what it has received of the log and of the members. */
export interface StreamPosition {
  readonly logOffset: number;
  readonly membersVersion: number;
}

export interface TaskStreamDeps {
  readonly out: Pick<Writable, 'write' | 'writableNeedDrain' | 'once' | 'end' | 'destroy'>;
  readonly task: LiveTask;
  readonly clock: Clock;
  readonly idOf: (position: StreamPosition) => string;
  /** Where the client wants to continue; undefined for a new client. */
  readonly resumeFrom: StreamPosition | undefined;
}

/**
 * One client of a task's event stream: `snapshot`, then `changed`, `log` and `members`. It compares the sent state with
 * the current one only while the client reads, so a slow client costs no memory and gets the latest state when it reads
 * again.
 */
export class TaskStream {
  private position: StreamPosition = { logOffset: 0, membersVersion: 0 };
  /** The last `changed`, as JSON. */
  private sentSummary = '';
  private cancelFlush: (() => void) | undefined;
  private cancelStall: (() => void) | undefined;
  private unsubscribe: (() => void) | undefined;
  private isStopped = false;

  constructor(private readonly deps: TaskStreamDeps) {}

  start(): void {
    const { task, resumeFrom } = this.deps;
    this.unsubscribe = task.subscribe(() => this.flushSoon());
    if (resumeFrom) this.position = resumeFrom;
    else this.sendSnapshot();
    this.flush();
  }

  /** Writes a comment, unless the client has not read the earlier bytes yet. */
  beat(): void {
    if (!this.cancelStall) this.write(':\n\n');
  }

  /** Sends the rest, if the client reads, and ends the response. */
  end(): void {
    if (this.isStopped) return;
    this.flush();
    this.stop();
    this.deps.out.end();
  }

  stop(): void {
    this.isStopped = true;
    this.unsubscribe?.();
    this.cancelFlush?.();
    this.cancelStall?.();
  }

  private sendSnapshot(): void {
    const { task } = this.deps;
    this.position = this.latest();
    this.sentSummary = JSON.stringify(summaryOf(task));
    this.write(this.event('snapshot', { ...presentTask(task.current), logOffset: task.logEnd }));
  }

  private flushSoon(): void {
    this.cancelFlush ??= this.deps.clock.after(FLUSH_INTERVAL_MS, () => {
      this.cancelFlush = undefined;
      this.flush();
    });
  }

  private flush(): void {
    const { task, out } = this.deps;
    if (this.isStopped || this.cancelStall) return;
    const before = this.position;
    const summary = JSON.stringify(summaryOf(task));
    this.position = this.latest();
    let events = '';
    if (before.logOffset < this.position.logOffset) {
      const { offset, text } = task.logSince(before.logOffset);
      events += this.event('log', { offset, text });
    }
    if (before.membersVersion < this.position.membersVersion)
      events += this.event('members', task.membersSince(before.membersVersion));
    if (summary !== this.sentSummary) events += this.event('changed', summaryOf(task));
    this.sentSummary = summary;
    if (events !== '') this.write(events);
    if (task.summary.status !== 'running' && !this.cancelStall) {
      this.stop();
      out.end();
    }
  }

  private latest(): StreamPosition {
    const { logEnd: logOffset, membersVersion } = this.deps.task;
    return { logOffset, membersVersion };
  }

  private event<E extends keyof TaskStreamEvents>(name: E, data: TaskStreamEvents[E]): string {
    return `event: ${name}\nid: ${this.deps.idOf(this.position)}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  /** Stops writing while the client has not read the earlier bytes. */
  private write(text: string): void {
    const { out, clock } = this.deps;
    out.write(text);
    if (!out.writableNeedDrain || this.cancelStall) return;
    this.cancelStall = clock.after(STALL_TIMEOUT_MS, () => out.destroy());
    out.once('drain', () => {
      this.cancelStall?.();
      this.cancelStall = undefined;
      this.flush();
    });
  }
}

/** Without the log and the members, which have events of their own. */
function summaryOf(task: LiveTask): TaskStreamEvents['changed'] {
  const { log: _log, members: _members, ...summary } = presentTask(task.summary);
  return summary;
}

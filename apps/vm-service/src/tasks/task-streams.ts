import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '@headgate/domain-contracts';
import { TaskReader } from '@headgate/tasks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { presentTask } from './present-task.js';
import { TaskStream, type StreamPosition } from './task-stream.js';

/** Interval of the comment that keeps proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;

/** Sends the changes of one task as server-sent events. */
@Injectable()
export class TaskStreams {
  /** Distinguishes positions of this process from those of an earlier one. */
  private readonly boot = randomBytes(6).toString('base64url');
  private readonly open = new Set<TaskStream>();
  private stopHeartbeat: (() => void) | undefined;

  constructor(
    private readonly tasks: TaskReader,
    private readonly clock: Clock,
  ) {}

  /**
   * Answers a request with a stream that ends with the task. A client that sends `Last-Event-ID`, or `lastEventId` in
   * the query, continues where it stopped.
   * @throws DomainError TASK_NOT_FOUND
   */
  begin(id: string, { headers, method }: FastifyRequest, reply: FastifyReply, lastEventId?: string): void {
    const task = this.tasks.live(id);
    const ended = task ? undefined : this.tasks.get(id);
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      vary: 'accept',
    });
    if (method === 'HEAD') return void raw.end();
    if (!task) {
      const snapshot = ended && { ...presentTask(ended), logOffset: ended.log.length };
      raw.end(`event: snapshot\nid: ${this.boot}-end\ndata: ${JSON.stringify(snapshot)}\n\n`);
      return;
    }
    raw.flushHeaders();
    const stream = new TaskStream({
      out: raw,
      task,
      clock: this.clock,
      idOf: ({ logOffset, membersVersion }) => `${this.boot}-${logOffset}-${membersVersion}`,
      resumeFrom: this.positionOf(headers['last-event-id'] ?? lastEventId, {
        logOffset: task.logEnd,
        membersVersion: task.membersVersion,
      }),
    });
    this.stopHeartbeat ??= this.clock.every(HEARTBEAT_MS, () => {
      for (const one of this.open) one.beat();
    });
    this.open.add(stream);
    raw.once('close', () => {
      stream.stop();
      this.open.delete(stream);
    });
    stream.start();
  }

  /** Sends the rest to all clients that read, and ends their streams. */
  close(): void {
    this.stopHeartbeat?.();
    for (const stream of this.open) stream.end();
  }

  /** @returns undefined for a position of another process, or one that the task has not reached */
  private positionOf(id: string | string[] | undefined, latest: StreamPosition): StreamPosition | undefined {
    const [, boot, log, members] = /^([\w-]{8})-(\d{1,15})-(\d{1,15})$/.exec(String(id ?? '')) ?? [];
    const position = { logOffset: Number(log), membersVersion: Number(members) };
    const isReached =
      position.logOffset <= latest.logOffset && position.membersVersion <= latest.membersVersion && boot === this.boot;
    return isReached ? position : undefined;
  }
}

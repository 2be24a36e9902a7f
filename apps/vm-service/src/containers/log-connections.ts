import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { ct } from '@headgate/access';
import { CallerPlaces } from './caller-places.js';
import { StreamedAnswers, type StreamClient } from './streamed-answers.js';

const MIB = 1024 ** 2;
/** The most bytes of a response. */
export const MAX_LOG_BYTES = 32 * MIB;
/** The most bytes of a response that follows a log; its client asks again with `since`. */
export const MAX_FOLLOWED_BYTES = 256 * MIB;
/** A follower has a connection to the engine of its own. */
export const MAX_FOLLOWERS_PER_CALLER = 16;
export const MAX_FOLLOWERS = 200;

export interface LogClient extends StreamClient {
  /** Whether the response continues until the client leaves. */
  readonly follows: boolean;
}

/** The responses that send logs. */
@Injectable()
export class LogConnections {
  private readonly followers = new CallerPlaces({
    max: MAX_FOLLOWERS,
    maxPerCaller: MAX_FOLLOWERS_PER_CALLER,
    refusalOf: (own) =>
      own >= MAX_FOLLOWERS_PER_CALLER
        ? `You follow ${own} logs; close one of them first.`
        : `${MAX_FOLLOWERS} logs are already being followed; read this one without follow.`,
  });

  constructor(private readonly answers: StreamedAnswers) {}

  /**
   * Answers a request with a log.
   * @param openLog called only if the log is sent, which HEAD does without
   * @throws DomainError TOO_MANY_STREAMS, and the errors of `openLog`
   */
  answer(client: LogClient, openLog: (signal: AbortSignal) => Promise<Readable>): Promise<void> {
    const { follows, caller } = client;
    const answer = {
      headers: HEADERS,
      need: ct('read'),
      doing: 'read this log',
      maxBytes: follows ? MAX_FOLLOWED_BYTES : MAX_LOG_BYTES,
      ...(follows && { takePlace: () => this.followers.take(caller) }),
    };
    return this.answers.send(client, answer, openLog);
  }
}

const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};

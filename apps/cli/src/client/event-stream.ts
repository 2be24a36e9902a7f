import type { IncomingMessage } from 'node:http';
import { ClientError } from './client-error.js';
import type { HttpClient, QueryValues } from './http-client.js';
import { networkFailure } from './network-failure.js';
import { EXIT_CODES } from '../exit-codes.js';
import { foreignAnswer } from './answer-error.js';

export interface StreamEvent {
  readonly event: string;
  /** As it was sent; JSON in the streams of the service. */
  readonly data: string;
}

export interface FollowOptions {
  readonly query?: QueryValues;
  readonly signal?: AbortSignal;
  /** Called with the reason and the seconds until the next attempt. */
  readonly onLost?: (error: ClientError, seconds: number) => void;
  /** Waits between two attempts. @throws when the signal aborts */
  readonly wait?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The service sends something every 15 seconds. */
const SILENCE_MS = 45_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/**
 * The events of a stream, over any number of connections: after a loss it continues behind the last event that had an
 * ID. Ends when the service ends the stream of an object that has ended, or when `isLast` says so.
 * @throws ClientError when the service refuses the stream, or when the first connection fails
 */
export async function* followEvents(
  client: HttpClient,
  path: string,
  { query, signal, onLost, wait = waitFor }: FollowOptions = {},
): AsyncGenerator<StreamEvent> {
  let lastId: string | undefined;
  let hasConnected = false;
  let delay = FIRST_WAIT_MS;
  for (;;) {
    try {
      const answer = await client.open('GET', path, {
        timeoutMs: SILENCE_MS,
        headers: { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
        ...(query ? { query } : {}),
        ...(signal ? { signal } : {}),
      });
      expectEvents(client, answer);
      hasConnected = true;
      for await (const { id, ...event } of eventsOf(client, answer)) {
        delay = FIRST_WAIT_MS;
        lastId = id ?? lastId;
        yield event;
      }
      throw networkFailure(Object.assign(new Error('ended'), { code: 'ECONNRESET' }), client.access.url);
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof ClientError) || error.exitCode !== EXIT_CODES.unreachable || !hasConnected) throw error;
      onLost?.(error, delay / 1000);
    }
    try {
      await wait(delay, signal);
    } catch {
      return;
    }
    delay = Math.min(delay * 2, LONGEST_WAIT_MS);
  }
}

async function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  const { setTimeout } = await import('node:timers/promises');
  await setTimeout(ms, undefined, signal ? { signal } : {});
}

function expectEvents(client: HttpClient, answer: IncomingMessage): void {
  const contentType = answer.headers['content-type'] ?? '';
  if (contentType.startsWith('text/event-stream')) return;
  answer.destroy();
  throw foreignAnswer(client.access.url, { status: answer.statusCode ?? 0, contentType });
}

async function* eventsOf(
  client: HttpClient,
  answer: IncomingMessage,
): AsyncGenerator<StreamEvent & { readonly id?: string }> {
  let event = '';
  let id: string | undefined;
  let data: string[] = [];
  for await (const line of linesOf(client, answer)) {
    if (line === '') {
      if (data.length > 0) yield { event, data: data.join('\n'), ...(id === undefined ? {} : { id }) };
      [event, id, data] = ['', undefined, []];
      continue;
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'event') event = value;
    else if (field === 'id') id = value;
    else if (field === 'data') data.push(value);
  }
}

/** The lines of an answer. A line may be a list of megabytes in many parts, which are joined once. */
async function* linesOf(client: HttpClient, answer: IncomingMessage): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun: string[] = [];
  try {
    for await (const part of answer) {
      const [first = '', ...others] = decoder.decode(part as Buffer, { stream: true }).split('\n');
      begun.push(first);
      for (const next of others) {
        yield begun.join('').replace(/\r$/, '');
        begun = [next];
      }
    }
  } catch (error) {
    throw networkFailure(error, client.access.url);
  }
}

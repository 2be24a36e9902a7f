import type { Client } from './client.js';
import { ApiError } from './client.js';
import type { Refusal } from './types.js';

const RETRY_MS = 2_000;
/** More without the end of an event is not from this API. */
const MAX_EVENT_CHARACTERS = 4 * 1024 * 1024;

export interface StreamEvents {
  onRefusals(refusals: readonly Refusal[], skipped: number): void;
  onState(state: 'live' | 'waiting'): void;
}

/** Follows the refusals until the signal aborts, and connects again after a failure. */
export async function followRefusals(client: Client, signal: AbortSignal, events: StreamEvents): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await client.open('GET', '/refusals/stream', undefined, signal);
      events.onState('live');
      await readEvents(response.body!, events);
    } catch (error) {
      if (signal.aborted || (error instanceof ApiError && error.status === 401)) return;
    }
    if (signal.aborted) return;
    events.onState('waiting');
    await pause(RETRY_MS, signal);
  }
}

async function readEvents(body: ReadableStream<Uint8Array>, events: StreamEvents): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = parts.pop()!;
    if (rest.length > MAX_EVENT_CHARACTERS) throw new Error('An event is too long.');
    for (const part of parts) {
      if (!part.startsWith('data: ')) continue;
      const { refusals, skipped } = JSON.parse(part.slice('data: '.length)) as { refusals: Refusal[]; skipped: number };
      events.onRefusals(refusals, skipped);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  // A listener that is added later is not called.
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(timer);
      resolve();
    },
    { once: true },
  );
  return promise;
}

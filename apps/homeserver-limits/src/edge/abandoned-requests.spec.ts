import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { AbandonedRequests } from './abandoned-requests.js';
import { CallerAddress } from './caller-address.js';

const PROXY = '10.0.0.1';

class Response extends EventEmitter {
  closed = false;

  close(): void {
    this.closed = true;
    this.emit('close');
  }
}

describe('AbandonedRequests', () => {
  let refused: string[];
  let requests: AbandonedRequests;
  beforeEach(() => {
    refused = [];
    const addresses = new CallerAddress([PROXY], 64);
    requests = new AbandonedRequests({ addresses, maxPerSource: 2, onRefused: (source) => refused.push(source) });
  });

  const follow = (response: Response, source = '192.0.2.1') =>
    requests.follow({ address: source, source }, response as unknown as ServerResponse);
  /** A request whose caller hangs up. @returns ends it */
  const abandon = (source?: string): (() => void) => {
    const response = new Response();
    const end = follow(response, source);
    response.close();
    return end;
  };

  test('refuses a source that has left too many behind, and no other one', () => {
    abandon();
    abandon();
    expect(() => abandon()).toThrow(expect.objectContaining({ rate: 'abandoned_requests', retryAfterMs: 1_000 }));
    expect(refused).toEqual(['192.0.2.1']);
    expect(() => abandon('192.0.2.2')).not.toThrow();
  });

  test('has room again when one of them has ended', () => {
    abandon();
    abandon()();
    expect(abandon).not.toThrow();
    expect(abandon).toThrow();
  });

  test('does not count requests whose callers wait, however many there are', () => {
    for (let i = 0; i < 10; i++) follow(new Response());
    expect(abandon).not.toThrow();
  });

  test('does not count a response that closes after its end', () => {
    for (let i = 0; i < 10; i++) {
      const response = new Response();
      follow(response)();
      response.close();
      expect(response.listenerCount('close')).toBe(0);
    }
    expect(abandon).not.toThrow();
  });

  test('counts a caller who was gone before the request was handled', () => {
    for (let i = 0; i < 2; i++) follow(Object.assign(new Response(), { closed: true }));
    expect(abandon).toThrow();
  });

  test('does not bound a trusted proxy that names no caller', () => {
    for (let i = 0; i < 10; i++) abandon(PROXY);
    expect(refused).toEqual([]);
  });
});

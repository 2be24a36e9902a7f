import { jsonBodyOf } from '@headgate/homeserver-contracts';
import { CapExceeded, RateExceeded } from '@headgate/limits-core';
import { MatrixError } from '@headgate/matrix-protocol';
import { errorResponse } from './error-response.js';

const header = (headers: readonly string[], name: string) => headers[headers.indexOf(name) + 1];

describe('errorResponse', () => {
  test('says when to retry after a rate, in the header never sooner than in the body', () => {
    const response = errorResponse(new RateExceeded({ rate: 'ring', retryAfterMs: 41_350 }));
    expect(response.status).toBe(429);
    expect(jsonBodyOf(response)).toMatchObject({ errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 41_350 });
    expect(header(response.headers, 'Retry-After')).toBe('42');
  });

  test('gives a cap no hint to wait', () => {
    const response = errorResponse(new CapExceeded({ cap: 'pushers', limit: 100, resource: 'pushers' }));
    expect(response.status).toBe(400);
    expect(response.headers).not.toContain('Retry-After');
    expect(Object.keys(jsonBodyOf(response) ?? {})).toEqual(['errcode', 'error']);
  });

  test('reveals nothing about an internal error', () => {
    const response = errorResponse(new Error('secret path'));
    expect(response.status).toBe(500);
    expect(response.body.toString()).not.toContain('secret');
  });

  test('keeps the extra members of a refusal', () => {
    const response = errorResponse(new MatrixError(400, 'M_UNKNOWN', 'x', { extra: { limit: 5 } }));
    expect(jsonBodyOf(response)).toEqual({ errcode: 'M_UNKNOWN', error: 'x', limit: 5 });
  });
});

import { CapExceeded, RateExceeded } from '@headgate/limits-core';
import { MatrixError } from '@headgate/matrix-protocol';
import { answeredObject } from './answer.js';
import { errorAnswer } from './error-answer.js';

const header = (headers: readonly string[], name: string) => headers[headers.indexOf(name) + 1];

describe('errorAnswer', () => {
  test('says when to come back after a rate, in the header never sooner than in the body', () => {
    const answer = errorAnswer(new RateExceeded({ rate: 'ring', retryAfterMs: 41_350 }));
    expect(answer.status).toBe(429);
    expect(answeredObject(answer)).toMatchObject({ errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 41_350 });
    expect(header(answer.headers, 'Retry-After')).toBe('42');
  });

  test('gives a cap no hint to wait', () => {
    const answer = errorAnswer(new CapExceeded({ cap: 'pushers', limit: 100, resource: 'pushers' }));
    expect(answer.status).toBe(400);
    expect(answer.headers).not.toContain('Retry-After');
    expect(Object.keys(answeredObject(answer) ?? {})).toEqual(['errcode', 'error']);
  });

  test('tells nothing about a fault of ours', () => {
    const answer = errorAnswer(new Error('secret path'));
    expect(answer.status).toBe(500);
    expect(answer.body.toString()).not.toContain('secret');
  });

  test('keeps the extra members of a refusal', () => {
    const answer = errorAnswer(new MatrixError(400, 'M_UNKNOWN', 'x', { limit: 5 }));
    expect(answeredObject(answer)).toEqual({ errcode: 'M_UNKNOWN', error: 'x', limit: 5 });
  });
});

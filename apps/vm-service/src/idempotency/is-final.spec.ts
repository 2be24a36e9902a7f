import type { ErrorCode } from '@headgate/domain-contracts';
import { isFinal } from './is-final.js';

describe('an answer to a request with an idempotency key', () => {
  test.each<[number, ErrorCode | undefined]>([
    [200, undefined],
    [201, undefined],
    [202, undefined],
    [404, 'INSTANCE_NOT_FOUND'],
    [409, 'ALREADY_EXISTS'],
    [409, 'WRONG_STATE'],
    [409, undefined],
    [400, 'REJECTED_BY_BACKEND'],
  ])('is kept when it is %d %s', (status, code) => expect(isFinal(status, code)).toBe(true));

  test.each<[number, ErrorCode | undefined]>([
    [400, 'INVALID_INPUT'],
    [401, undefined],
    [403, 'NOT_PERMITTED'],
    [413, 'BODY_TOO_LARGE'],
    [415, 'UNSUPPORTED_MEDIA_TYPE'],
    [429, undefined],
    [409, 'BUSY'],
    [500, 'INTERNAL'],
    [501, 'NOT_SUPPORTED'],
    [502, 'BACKEND_FAILED'],
    [503, 'REGISTRY_FULL'],
    [504, 'BACKEND_TIMEOUT'],
  ])('is not kept when it is %d %s', (status, code) => expect(isFinal(status, code)).toBe(false));
});

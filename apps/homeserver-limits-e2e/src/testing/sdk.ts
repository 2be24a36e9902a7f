import { calculateRetryBackoff, MatrixError } from 'matrix-js-sdk';

/** A logger of the client that logs nothing. */
export const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, getChild: () => silent };

/** The error of a call of the client. */
export const failure = async (attempt: Promise<unknown>): Promise<MatrixError> => {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MatrixError))
    throw new Error('the call was not refused in the Matrix format', { cause: error });
  return error;
};

/** The client recognizes a rate, and waits exactly until the window is open again. */
export function expectRate(refused: MatrixError, windowMs: number): void {
  expect([refused.httpStatus, refused.errcode, refused.isRateLimitError()]).toEqual([429, 'M_LIMIT_EXCEEDED', true]);
  const wait = refused.getRetryAfterMs() ?? 0;
  expect(wait % 1000).toBe(0);
  expect(wait - refused.data['retry_after_ms']).toBeGreaterThanOrEqual(0);
  expect(wait - refused.data['retry_after_ms']).toBeLessThan(1000);
  expect(wait).toBeLessThanOrEqual(windowMs);
  expect(calculateRetryBackoff(refused, 1, true)).toBe(wait);
}

/** The client recognizes a cap, and does not retry. */
export function expectCap(refused: MatrixError): void {
  expect([refused.httpStatus, refused.errcode]).toEqual([400, 'M_LIMIT_EXCEEDED']);
  expect(refused.error).toContain('waiting does not help');
  expect(refused.getRetryAfterMs()).toBeNull();
  expect(calculateRetryBackoff(refused, 1, true)).toBe(-1);
}

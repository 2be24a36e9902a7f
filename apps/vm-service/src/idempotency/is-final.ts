import type { ErrorCode } from '@headgate/domain-contracts';

/**
 * Nothing was done: the request is not valid, or not allowed, or not at this time. A corrected request may have the
 * same key.
 */
const NOT_BEGUN: readonly number[] = [400, 401, 403, 413, 415, 429];
/** The backend has refused a valid request, after the change had begun. */
const FINAL_CODES: readonly ErrorCode[] = ['REJECTED_BY_BACKEND'];
/** Another operation has to end first. */
const PASSING_CODES: readonly ErrorCode[] = ['BUSY'];

/** Whether every replay gets this answer. After any other answer, the request is carried out when it is sent again. */
export function isFinal(status: number, code: ErrorCode | undefined): boolean {
  if (code !== undefined && FINAL_CODES.includes(code)) return true;
  if (code !== undefined && PASSING_CODES.includes(code)) return false;
  return status < 500 && !NOT_BEGUN.includes(status);
}

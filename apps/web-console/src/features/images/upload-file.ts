import { t } from '@lingui/core/macro';
import type { ImageAcceptedView } from '@headgate/api-contracts';
import { ApiError } from '../../shared/api/api-error.js';

/** A part has to arrive within the 30 seconds that a request may take. */
export const PART_BYTES = 4 * 1024 ** 2;
/** How many parts in a row may fail without a stored byte. */
export const MAX_FAILURES = 5;
const FIRST_PAUSE_MS = 1_000;

export interface UploadFileOptions {
  readonly file: File;
  /** Where the first part begins: more than 0 when an upload is resumed. */
  readonly offset: number;
  readonly signal: AbortSignal;
  /** Sends one part. */
  readonly sendPart: (offset: number, part: Blob) => Promise<ImageAcceptedView>;
  /** Receives the number of bytes that the service has stored. */
  readonly onProgress: (storedBytes: number) => void;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/**
 * Sends a file in parts, in order. After a failure, it continues at the offset that the service reports, because the
 * service keeps what it has received of a part.
 * @returns the answer to the last part
 * @throws the error of a part that the service refuses, or that failed several times in a row without progress
 */
export async function uploadFile(options: UploadFileOptions): Promise<ImageAcceptedView> {
  const { file, signal, sendPart, onProgress, pause } = options;
  let { offset } = options;
  let failures = 0;
  for (;;) {
    signal.throwIfAborted();
    try {
      const answer = await sendPart(offset, file.slice(offset, offset + PART_BYTES));
      const next = validOffset(answer.offset, file) ?? Math.min(offset + PART_BYTES, file.size);
      if (next <= offset && answer.task === undefined) failures++;
      else failures = 0;
      offset = next;
      onProgress(offset);
      if (answer.task !== undefined || offset >= file.size) return answer;
      if (failures >= MAX_FAILURES) throw new Error(t`The service accepts the parts, but does not store them.`);
    } catch (error) {
      signal.throwIfAborted();
      const reported = reportedOffset(error, file);
      if (reported === undefined && !isTemporary(error)) throw error;
      failures = reported !== undefined && reported > offset ? 0 : failures + 1;
      if (failures >= MAX_FAILURES) throw error;
      if (reported === undefined) {
        await pause(FIRST_PAUSE_MS * 2 ** (failures - 1));
      } else {
        offset = reported;
        onProgress(offset);
      }
    }
  }
}

export const reportedOffset = (error: unknown, file: File): number | undefined =>
  error instanceof ApiError && error.status === 409
    ? validOffset((error.details as { offset?: unknown } | undefined)?.offset, file)
    : undefined;

const validOffset = (offset: unknown, { size }: File): number | undefined =>
  typeof offset === 'number' && Number.isInteger(offset) && offset >= 0 && offset <= size ? offset : undefined;

/**
 * Whether the same part may succeed later. `BUSY` is the end of a part that was cut off, which the service still
 * writes.
 */
const isTemporary = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 0 || error.status === 408 || error.status >= 500 || error.code === 'BUSY') &&
  error.status !== 501 &&
  error.status !== 507;

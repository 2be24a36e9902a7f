import type { RelayedRequest } from './relayed-request.js';

/**
 * How much of a body arrives before the upstream is asked for a connection; all of a shorter body. Otherwise, callers
 * who send heads and no bodies would hold the upstream's connections.
 */
export const BODY_START_BYTES = 16 * 1024;

/** A request whose body has not begun, with the few bytes of it that have arrived. */
export class BodyStart<Kind extends string> {
  private readonly kept: Buffer;
  private filled = 0;

  constructor(readonly request: RelayedRequest<Kind>) {
    this.kept = Buffer.allocUnsafeSlow(bytesToBegin(request));
  }

  get missingBytes(): number {
    return this.request.head.contentLength - this.filled;
  }

  /**
   * @param bytes the next part of the body, not more than is missing
   * @returns all of the body that has arrived, once it has begun
   */
  add(bytes: Buffer): Buffer | undefined {
    const { kept, filled } = this;
    if (filled + bytes.length >= kept.length) return Buffer.concat([kept.subarray(0, filled), bytes]);
    this.filled += bytes.copy(kept, filled);
    return undefined;
  }
}

/** The length of the body with which a request is sent, at least. */
export const bytesToBegin = ({ head: { contentLength } }: RelayedRequest): number =>
  Math.min(contentLength, BODY_START_BYTES);

import { pipeline, type Readable, Transform } from 'node:stream';
import { type MatrixResponse, succeeded } from '@headgate/homeserver-contracts';

/** A body of unknown length is charged in parts of this size. */
const PART_BYTES = 256 * 1024;

/** Charges bytes to a limit. Rejects if there is no room for them. */
export type ChargeBytes = (bytes: number) => Promise<void>;

/**
 * Charges the body of a successful response: by its declared length before it is sent, otherwise part by part, each
 * before it is sent. A part that is refused ends the body early, with the connection.
 */
export async function meterResponse(response: MatrixResponse, charge: ChargeBytes): Promise<MatrixResponse> {
  const { body, headers } = response;
  if (!succeeded(response)) return response;
  if (Buffer.isBuffer(body)) {
    await charge(body.length);
    return response;
  }
  const length = lengthIn(headers);
  if (length === undefined) return { ...response, body: metered(body, charge) };
  try {
    await charge(length);
  } catch (error) {
    body.destroy();
    throw error;
  }
  return response;
}

function lengthIn(headers: readonly string[]): number | undefined {
  const at = headers.findIndex((header, index) => index % 2 === 0 && header.toLowerCase() === 'content-length');
  const length = at < 0 ? NaN : Number(headers[at + 1]);
  return Number.isSafeInteger(length) && length >= 0 ? length : undefined;
}

function metered(body: Readable, charge: ChargeBytes): Readable {
  /** Bytes that are paid for and not yet sent. */
  let paid = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (chunk.length <= paid) {
        paid -= chunk.length;
        return done(null, chunk);
      }
      const part = Math.max(PART_BYTES, chunk.length - paid);
      charge(part).then(
        () => {
          paid += part - chunk.length;
          done(null, chunk);
        },
        (error: unknown) => done(error as Error),
      );
    },
  });
  return pipeline(body, meter, () => undefined);
}

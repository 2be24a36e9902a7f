import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';

const ALGORITHMS: Record<string, number> = { sha256: 64, sha512: 128 };

export const isDigest = (text: string): boolean => {
  const [, algorithm = '', hex = ''] = /^([a-z0-9]+):([0-9a-f]+)$/.exec(text) ?? [];
  return ALGORITHMS[algorithm] === hex.length;
};

/** Passes bytes through and fails at the end if they do not match the digest `algorithm:hex`. */
export function verifyDigest(digest: string): Transform {
  if (!isDigest(digest))
    throw new DomainError(
      'INVALID_SOURCE',
      `${digest.slice(0, 80)} is not a digest: it must look like sha256:<64 hex digits>.`,
    );
  const [algorithm = 'sha256', expected] = digest.split(':');
  const hash = createHash(algorithm);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      const actual = hash.digest('hex');
      if (actual === expected) return done();
      done(wrongDigest(`${algorithm}:${actual}`, digest));
    },
  });
}

export const wrongDigest = (actual: string, expected: string): DomainError =>
  new DomainError(
    'BACKEND_FAILED',
    `The download has the checksum ${actual}, not ${expected}: it was modified or damaged in transit.`,
  );

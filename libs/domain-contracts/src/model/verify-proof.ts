import type { ProofCertificate, SignedProof } from './proof-certificate.js';

const DOMAIN = 'headgate-boot-proof-1\n';
const MAX_DEPTH = 16;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The signed bytes: JSON without spaces, with the keys of each object in order (as RFC 8785), after a fixed line. */
export function proofMessage(certificate: ProofCertificate): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${DOMAIN}${canonical(certificate, 0)}`);
}

export type ProofVerdict =
  | {
      readonly isValid: true;
      readonly certificate: ProofCertificate;
      /** The key that has signed it. Anyone can sign with a key of their own. */
      readonly key: string;
    }
  | { readonly isValid: false; readonly reason: string };

/**
 * Verifies a certificate without the service.
 * @param document parsed from JSON
 * @param trustedKey the public key of the service, from its route or a file: SPKI as base64 or PEM. Without one, the
 *   key in the certificate is used, which proves that it was not changed, but not who has signed it
 */
export async function verifyProof(document: unknown, trustedKey?: string): Promise<ProofVerdict> {
  const invalid = (reason: string): ProofVerdict => ({ isValid: false, reason });
  const { certificate, signature } = (document ?? {}) as Partial<SignedProof>;
  if (typeof certificate !== 'object' || certificate === null || typeof signature !== 'object' || signature === null)
    return invalid('It is no certificate of a boot.');
  const { algorithm, key, value } = signature as Partial<SignedProof['signature']>;
  if (algorithm !== 'Ed25519' || !isBase64(key) || !isBase64(value)) return invalid('Its signature is incomplete.');
  if (trustedKey !== undefined && keyText(trustedKey) !== key) return invalid('It is signed with another key.');
  if (certificate.kind !== 'headgate-boot-proof' || certificate.format !== 1)
    return invalid('It has a format that this release does not know.');
  try {
    const publicKey = await crypto.subtle.importKey('spki', bytesOf(key), 'Ed25519', false, ['verify']);
    const isSigned = await crypto.subtle.verify('Ed25519', publicKey, bytesOf(value), proofMessage(certificate));
    if (!isSigned) return invalid('It was changed after it was signed.');
  } catch {
    return invalid('Its key or its content is malformed.');
  }
  return { isValid: true, certificate, key };
}

/** @returns base64 without line breaks */
export const keyText = (key: string): string => key.replace(/-----[A-Z ]+-----/g, '').replace(/\s+/g, '');

const isBase64 = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 256 && BASE64.test(value);

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

function canonical(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw new Error('The certificate is nested too deep.');
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one, depth + 1)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one, depth + 1)}`).join(',')}}`;
}

import { hash } from 'node:crypto';

const digest = (seed: string): Buffer => hash('sha256', seed, 'buffer');

/** A uid derived from its use, in the form of a version 4 UUID. */
export function seededUid(seed: string): string {
  const hex = digest(`uid ${seed}`).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A number from 0 to `limit` (exclusive) that depends on the seed. */
export const seededNumber = (seed: string, limit: number): number => digest(seed).readUInt32BE(0) % limit;

export const seededChoice = <T>(seed: string, choices: readonly T[]): T => choices[seededNumber(seed, choices.length)]!;

/** The random suffix of generated names: five characters that Kubernetes uses. */
export function seededSuffix(seed: string): string {
  const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
  return [...digest(`suffix ${seed}`).subarray(0, 5)].map((byte) => alphabet[byte % alphabet.length]).join('');
}

import { createHash } from 'node:crypto';
import { DomainError } from '@headgate/domain-contracts';

export interface ParsedSshKey {
  /** Such as `ssh-ed25519`. */
  readonly type: string;
  /** One line without the comment. */
  readonly key: string;
  readonly comment: string;
  /** SHA-256 of the key in hexadecimal digits. */
  readonly id: string;
  /** As `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
}

/** How many fields a key of a type has after the name of the type. Source: RFC 4253, 5656 and 8709, and OpenSSH. */
const FIELDS: Readonly<Record<string, number>> = {
  'ssh-ed25519': 1,
  'ssh-rsa': 2,
  'ecdsa-sha2-nistp256': 2,
  'ecdsa-sha2-nistp384': 2,
  'ecdsa-sha2-nistp521': 2,
  'sk-ssh-ed25519@openssh.com': 2,
  'sk-ecdsa-sha2-nistp256@openssh.com': 3,
};
/** In the formats of OpenSSH, PEM and PuTTY. */
const PRIVATE = /PRIVATE KEY|PuTTY-User-Key-File|^b3BlbnNzaC1rZXktdjE/m;
const ED25519_BYTES = 32;
const MIN_RSA_BITS = 2048;

const refuse = (problem: string): DomainError => new DomainError('INVALID_INPUT', `key ${problem}`);

/**
 * Reads a public key in the format of OpenSSH. No message contains any of the text, which may be a private key.
 * @throws DomainError INVALID_INPUT
 */
export function parseSshKey(text: string): ParsedSshKey {
  if (PRIVATE.test(text)) throw refuse('is a private key. Send the public one, from the file that ends in .pub.');
  const line = text.trim();
  if (/[\r\n]/.test(line)) throw refuse('must be one line.');
  const [type = '', encoded = '', ...rest] = line.split(/[ \t]+/);
  const fieldCount = Object.hasOwn(FIELDS, type) ? FIELDS[type] : undefined;
  if (fieldCount === undefined)
    throw refuse(`must begin with one of ${Object.keys(FIELDS).join(', ')}, as the file that ends in .pub does.`);
  const blob = Buffer.from(encoded, 'base64');
  const fields = fieldsOf(blob);
  const isWhole = blob.toString('base64').replace(/=+$/, '') === encoded.replace(/=+$/, '');
  if (!isWhole || fields?.[0]?.toString('latin1') !== type || fields.length !== fieldCount + 1)
    throw refuse('is damaged or incomplete: copy the whole line.');
  const last = fields.at(-1) ?? Buffer.alloc(0);
  if (type === 'ssh-ed25519' && last.length !== ED25519_BYTES) throw refuse('is damaged or incomplete.');
  if (type === 'ssh-rsa' && bitsOf(last) < MIN_RSA_BITS) throw refuse(`has fewer than ${MIN_RSA_BITS} bits.`);
  const digest = createHash('sha256').update(blob).digest();
  return {
    type,
    key: `${type} ${encoded}`,
    comment: rest.join(' '),
    id: digest.toString('hex'),
    fingerprint: `SHA256:${digest.toString('base64').replace(/=+$/, '')}`,
  };
}

/** The fields of a key, each after its length in four bytes; undefined if they do not fill it exactly. */
function fieldsOf(blob: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = [];
  for (let at = 0; at < blob.length;) {
    if (at + 4 > blob.length) return undefined;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return undefined;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/** Of a number that may begin with a zero byte, which makes it positive. */
function bitsOf(number: Buffer): number {
  const first = number.findIndex((byte) => byte !== 0);
  return first === -1 ? 0 : (number.length - first - 1) * 8 + (32 - Math.clz32(number[first] ?? 0));
}

import { generateKeyPairSync } from 'node:crypto';
import { DomainError } from '@headgate/domain-contracts';
import { parseSshKey } from './parse-ssh-key.js';

const field = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
const line = (type: string, ...fields: Buffer[]): string =>
  `${type} ${Buffer.concat([Buffer.from(type), ...fields].map(field)).toString('base64')}`;
const rsa = (bits: number): string => {
  const { n = '', e = '' } = generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'jwk' });
  return line('ssh-rsa', Buffer.from(e, 'base64url'), Buffer.concat([Buffer.alloc(1), Buffer.from(n, 'base64url')]));
};
const ED25519 = line('ssh-ed25519', Buffer.alloc(32, 7));
const refusal = (text: string): string => {
  try {
    parseSshKey(text);
  } catch (error) {
    if (DomainError.is(error, 'INVALID_INPUT')) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('parseSshKey', () => {
  test('reads a key with and without a comment', () => {
    const parsed = parseSshKey(` ${ED25519} ann@laptop of ann\n`);
    expect(parsed).toMatchObject({ type: 'ssh-ed25519', key: ED25519, comment: 'ann@laptop of ann' });
    expect(parsed.fingerprint).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
    expect(parseSshKey(ED25519)).toMatchObject({ comment: '', id: parsed.id });
  });

  test('reads the other types of OpenSSH', () => {
    const point = Buffer.alloc(65, 4);
    for (const key of [
      rsa(2048),
      line('ecdsa-sha2-nistp256', Buffer.from('nistp256'), point),
      line('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 1), Buffer.from('ssh:')),
      line('sk-ecdsa-sha2-nistp256@openssh.com', Buffer.from('nistp256'), point, Buffer.from('ssh:')),
    ])
      expect(parseSshKey(key).key).toBe(key);
  });

  test.each([
    ['of OpenSSH', '-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----'],
    ['of PEM', '-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0'],
    ['without its first line', 'b3BlbnNzaC1rZXktdjEAAAAAc2VjcmV0'],
    ['of PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\nc2VjcmV0'],
  ])('refuses a private key %s, and repeats none of it', (_title, text) => {
    expect(refusal(text)).toMatch(/^key is a private key\. Send the public one/);
    expect(refusal(text)).not.toContain('c2VjcmV0');
  });

  test.each([
    ['two lines', `${ED25519}\n${ED25519}`, /one line/],
    ['options before it', `command="x" ${ED25519}`, /must begin with one of/],
    ['an old type', line('ssh-dss', Buffer.alloc(1)), /must begin with one of/],
    ['a name of Object', 'constructor AAAA', /must begin with one of/],
    ['a part of a key', ED25519.slice(0, -8), /damaged/],
    ['no key', 'ssh-ed25519', /damaged/],
    ['another type inside', `ssh-rsa ${ED25519.split(' ')[1]}`, /damaged/],
    ['characters that are not base64', `${ED25519.slice(0, -2)}!!`, /damaged/],
    ['too few bytes', line('ssh-ed25519', Buffer.alloc(31)), /damaged/],
    ['a short RSA key', rsa(1024), /fewer than 2048 bits/],
  ])('refuses %s', (_title, text, expected) => expect(refusal(text)).toMatch(expected));
});

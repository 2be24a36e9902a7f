import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A key and its certificate, both in PEM. */
export interface KeyAndCertificate {
  readonly key: string;
  readonly certificate: string;
}

const TEN_YEARS_MS = 10 * 365 * 24 * 3600 * 1000;
/** The clock of a server may be behind. */
const BACKDATED_MS = 24 * 3600 * 1000;

// Object identifiers, encoded: https://www.rfc-editor.org/rfc/rfc5480 and RFC 5280.
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const EXTENDED_KEY_USAGE = Buffer.from('0603551d25', 'hex');
const CLIENT_AUTHENTICATION = Buffer.from('06082b06010505070302', 'hex');

/**
 * Creates a certificate that identifies a client, valid for ten years. Servers compare it as a whole, so no authority
 * has to sign it.
 */
export function createSelfSignedCertificate(commonName: string, nowMs: number): KeyAndCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(ECDSA_WITH_SHA256);
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(commonName)))));
  // A leading zero bit, because the number is positive, and a one, because its first byte must not be empty.
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  const usage = sequence(EXTENDED_KEY_USAGE, der(0x04, sequence(CLIENT_AUTHENTICATION)));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    algorithm,
    name,
    sequence(utcTime(nowMs - BACKDATED_MS), utcTime(nowMs + TEN_YEARS_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(usage)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: pem(sequence(body, algorithm, signature)),
  };
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, Math.floor(length / 0x100), length % 0x100];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** `YYMMDDHHMMSSZ`: years before 2050 only. */
const utcTime = (ms: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));

const pem = (content: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(content.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;

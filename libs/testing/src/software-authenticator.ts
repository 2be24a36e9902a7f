import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** How an answer differs from that of an honest browser with an honest authenticator. */
export interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly isVerified?: boolean;
  readonly crossOrigin?: boolean;
  readonly type?: string;
}

export interface AuthenticatorAnswer {
  id: string;
  clientDataJSON: string;
  authenticatorData: string;
  signature: string;
  userHandle: string;
}

export interface AuthenticatorCreation {
  id: string;
  clientDataJSON: string;
  attestationObject: string;
  transports: string[];
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** A browser with one discoverable key on P-256, as WebAuthn Level 3 and CTAP 2 describe them. */
export class SoftwareAuthenticator {
  /** At the last answer. 0: there is no counter, as in synchronized passkeys. */
  counter = 1;
  id = randomBytes(16).toString('base64url');
  userHandle = randomBytes(32).toString('base64url');
  private readonly keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

  constructor(readonly origin: string) {
    this.keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }

  create(options: { challenge: string; user: { id: string } }, deviation: Deviation = {}): AuthenticatorCreation {
    this.userHandle = options.user.id;
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' });
    const [id, point] = [Buffer.from(this.id, 'base64url'), [x, y].map((part) => Buffer.from(part, 'base64url'))];
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    // In the format of COSE: kty EC2, alg ES256, crv P-256.
    const key = new Map<unknown, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, point[0]],
      [-3, point[1]],
    ]);
    const credential = Buffer.concat([Buffer.alloc(16), length, id, cbor(key)]);
    const authData = Buffer.concat([this.authenticatorData(HAS_CREDENTIAL, deviation), credential]);
    const object = new Map<unknown, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    return {
      id: this.id,
      clientDataJSON: this.clientData('webauthn.create', options.challenge, deviation).toString('base64url'),
      attestationObject: cbor(object).toString('base64url'),
      transports: ['internal'],
    };
  }

  get(options: { challenge: string }, deviation: Deviation = {}): AuthenticatorAnswer {
    if (this.counter > 0) this.counter++;
    const data = this.authenticatorData(0, deviation);
    const client = this.clientData('webauthn.get', options.challenge, deviation);
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
    return {
      id: this.id,
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, this.keys.privateKey).toString('base64url'),
      userHandle: this.userHandle,
    };
  }

  private authenticatorData(flags: number, { rpId, isVerified = true }: Deviation): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    const hash = createHash('sha256')
      .update(rpId ?? new URL(this.origin).hostname)
      .digest();
    return Buffer.concat([hash, Buffer.from([flags | USER_PRESENT | (isVerified ? USER_VERIFIED : 0)]), counter]);
  }

  private clientData(type: string, challenge: string, deviation: Deviation): Buffer {
    const origin = deviation.origin ?? this.origin;
    const crossOrigin = deviation.crossOrigin ?? false;
    const text = { type: deviation.type ?? type, challenge: deviation.challenge ?? challenge, origin, crossOrigin };
    return Buffer.from(JSON.stringify(text));
  }
}

/** RFC 8949 for small integers, texts, bytes and maps. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = [...(value as Map<unknown, unknown>)].flatMap(([key, one]) => [cbor(key), cbor(one)]);
  return Buffer.concat([head(5, entries.length / 2), ...entries]);
}

function head(major: number, argument: number): Buffer {
  if (argument < 24) return Buffer.from([(major << 5) | argument]);
  if (argument < 256) return Buffer.from([(major << 5) | 24, argument]);
  return Buffer.from([(major << 5) | 25, argument >> 8, argument & 255]);
}

import { randomBytes, scrypt } from 'node:crypto';
import { DamagedError, WrongPasswordError } from '../model/errors.js';
import { bytesOf, fieldsOf, numberOf, parseJson } from './json.js';
import { Cipher, type RepositoryKey } from '../crypto/cipher.js';

export interface ScryptCost {
  readonly n: number;
  readonly r: number;
  readonly p: number;
}

/** About 0.3 s; restic chooses a similar cost on the same machine. */
export const DEFAULT_COST: ScryptCost = { n: 32_768, r: 8, p: 4 };
/** A key file is not encrypted, so an attacker could ask for any cost. */
const MAX_MEMORY_BYTES = 1 << 30;
const MAX_P = 64;
const SALT_BYTES = 64;

export function randomKey(): RepositoryKey {
  return { encrypt: randomBytes(32), macK: randomBytes(16), macR: randomBytes(16) };
}

/** The origin of a key, for people. */
export interface KeyOrigin {
  readonly created: string;
  readonly username: string;
  readonly hostname: string;
}

/** The bytes of a key file: the key of the repository, encrypted with a password. */
export async function sealKey(
  key: RepositoryKey,
  password: string,
  cost: ScryptCost,
  origin: KeyOrigin,
): Promise<Buffer> {
  const salt = randomBytes(SALT_BYTES);
  const master = {
    mac: { k: base64(key.macK), r: base64(key.macR) },
    encrypt: base64(key.encrypt),
  };
  const data = (await passwordCipher(password, salt, cost, 'the new key')).seal(Buffer.from(JSON.stringify(master)));
  return Buffer.from(
    JSON.stringify({
      ...origin,
      kdf: 'scrypt',
      N: cost.n,
      r: cost.r,
      p: cost.p,
      salt: base64(salt),
      data: base64(data),
    }),
  );
}

/** @throws WrongPasswordError, DamagedError */
export async function openKey(bytes: Uint8Array, password: string, subject: string): Promise<RepositoryKey> {
  const file = fieldsOf(parseJson(bytes, subject), subject);
  if (file['kdf'] !== 'scrypt') throw new DamagedError(`${subject} has an unknown kdf; restic has "scrypt".`, subject);
  const cost = {
    n: numberOf(file, 'N', subject),
    r: numberOf(file, 'r', subject),
    p: numberOf(file, 'p', subject),
  };
  const cipher = await passwordCipher(password, bytesOf(file, 'salt', subject), cost, subject);
  const master = decrypt(cipher, bytesOf(file, 'data', subject), subject);
  const fields = fieldsOf(parseJson(master, subject), subject);
  const mac = fieldsOf(fields['mac'], subject);
  const key = {
    encrypt: bytesOf(fields, 'encrypt', subject),
    macK: bytesOf(mac, 'k', subject),
    macR: bytesOf(mac, 'r', subject),
  };
  if (key.encrypt.length !== 32 || key.macK.length !== 16 || key.macR.length !== 16) {
    throw new DamagedError(`${subject} contains a key of a wrong length.`, subject);
  }
  return key;
}

function decrypt(cipher: Cipher, data: Uint8Array, subject: string): Uint8Array {
  try {
    return cipher.open(data, subject);
  } catch (error) {
    throw new WrongPasswordError(`The password does not open ${subject}.`, { cause: error });
  }
}

async function passwordCipher(password: string, salt: Uint8Array, cost: ScryptCost, subject: string): Promise<Cipher> {
  const { n, r, p } = cost;
  const memory = 128 * n * r;
  const isPossible = n > 1 && (n & (n - 1)) === 0 && r >= 1 && p >= 1 && p <= MAX_P && memory <= MAX_MEMORY_BYTES;
  if (!isPossible) throw new DamagedError(`${subject} asks for an impossible cost of scrypt.`, subject);
  const derived = await new Promise<Buffer>((resolve, reject) => {
    // Node counts a little more than the memory of the definition.
    scrypt(password, salt, 64, { N: n, r, p, maxmem: memory + 256 * r * (p + 2) + (1 << 20) }, (error, bytes) => {
      if (error === null) resolve(bytes);
      else reject(error);
    });
  });
  return new Cipher({
    encrypt: derived.subarray(0, 32),
    macK: derived.subarray(32, 48),
    macR: derived.subarray(48, 64),
  });
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

import { decodeBase64 } from './base64.js';
import { canonicalJson } from './canonical-json.js';
import { isJsonObject, type JsonObject } from './parse-json.js';
import { type SigningKey, verifyEd25519 } from './signing-key.js';

/** The signed part of an object: everything except the signatures and `unsigned`. */
const signedPart = ({ signatures: _signatures, unsigned: _unsigned, ...rest }: JsonObject): string =>
  canonicalJson(rest);

/** A copy of the object with one more signature by `server`. */
export function signJson<T extends object>(object: T, server: string, key: SigningKey): T & { signatures: JsonObject } {
  const { signatures } = object as JsonObject;
  const others = isJsonObject(signatures) ? signatures : {};
  const own = isJsonObject(others[server]) ? others[server] : {};
  const signature = key.sign(signedPart(object as JsonObject));
  return { ...object, signatures: { ...others, [server]: { ...own, [key.id]: signature } } };
}

/** Whether `server` signed the object with this key. False if the signature or the key is missing or invalid. */
export function verifySignedJson(object: JsonObject, server: string, keyId: string, publicKey: unknown): boolean {
  const byServer = isJsonObject(object.signatures) ? object.signatures[server] : undefined;
  const signature = isJsonObject(byServer) ? byServer[keyId] : undefined;
  try {
    return verifyEd25519(decodeBase64(publicKey), decodeBase64(signature), signedPart(object));
  } catch {
    return false; // no canonical form, so it can't have been signed
  }
}

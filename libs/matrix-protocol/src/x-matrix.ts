import { decodeBase64 } from './base64.js';
import { canonicalJson } from './canonical-json.js';
import { isServerName } from './identifiers.js';
import { isKeyId, type SigningKey, verifyEd25519 } from './signing-key.js';

/** The parameters of an `Authorization: X-Matrix` header. Old servers omit the destination. */
export interface XMatrix {
  origin: string;
  destination?: string;
  key: string;
  sig: string;
}

/** The signed parts of a federation request. */
export interface FederationRequest {
  method: string;
  /** The request target as received: path and query, never decoded. */
  uri: string;
  origin: string;
  destination: string;
  /** The parsed body, if there is one. */
  content?: unknown;
}

const PARAMETER = /[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^",\s]*))[ \t]*(?:,|$)/y;

/** Parses the header; undefined if it is not a valid X-Matrix authorization. Unknown parameters are ignored. */
export function parseXMatrix(header: string): XMatrix | undefined {
  const scheme = /^X-Matrix[ \t]+/i.exec(header);
  if (!scheme) return undefined;
  const found = parseParameters(header.slice(scheme[0].length).trimEnd());
  const origin = found?.get('origin');
  const key = found?.get('key');
  const sig = found?.get('sig') ?? found?.get('signature');
  const destination = found?.get('destination');
  if (!isServerName(origin) || !isKeyId(key) || !sig) return undefined;
  if (destination === undefined) return { origin, key, sig };
  return isServerName(destination) ? { origin, destination, key, sig } : undefined;
}

function parseParameters(text: string): Map<string, string> | undefined {
  const found = new Map<string, string>();
  for (let at = 0; at < text.length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const [, name, quoted, bare] = PARAMETER.exec(text) ?? [];
    if (name === undefined || found.has(name.toLowerCase())) return undefined;
    found.set(name.toLowerCase(), quoted === undefined ? (bare ?? '') : quoted.replace(/\\(.)/g, '$1'));
  }
  return found;
}

/** The signed text. */
export const signedRequest = (request: FederationRequest): string => canonicalJson({ ...request });

/** Creates the header of a request. */
export function signXMatrix(request: FederationRequest, key: SigningKey): string {
  const { origin, destination } = request;
  return `X-Matrix origin="${origin}",destination="${destination}",key="${key.id}",sig="${key.sign(signedRequest(request))}"`;
}

/** Verifies the header's signature of this request. */
export function verifyXMatrix({ sig }: XMatrix, request: FederationRequest, publicKey: string): boolean {
  try {
    return verifyEd25519(decodeBase64(publicKey), decodeBase64(sig), signedRequest(request));
  } catch {
    return false; // no canonical form, so it can't have been signed
  }
}

/** Standard base64 without padding, as Matrix writes keys and signatures. */
export const encodeBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64').replace(/=+$/, '');

/** Reads padded or unpadded standard base64; undefined for anything else. */
export function decodeBase64(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return encodeBase64(bytes) === text.replace(/=+$/, '') ? bytes : undefined;
}

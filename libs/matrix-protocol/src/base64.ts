/** Standard base64 without padding, as Matrix writes keys and signatures. */
export const encodeBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64').replace(/=+$/, '');

/**
 * Decodes padded or unpadded standard base64; undefined for anything else. Unused bits of the last character may be
 * set, because some existing keys were written that way.
 */
export function decodeBase64(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const bare = text.replace(/=+$/, '');
  return bare.length % 4 === 1 ? undefined : Buffer.from(bare, 'base64');
}

type Sodium = typeof import('libsodium-wrappers-sumo').default;

let sodium: Sodium | undefined;

/**
 * Resolves when the other functions of this file can be called. libsodium is WebAssembly, which takes 70 ms and 18 MiB:
 * a program that opens no repository does not load it.
 */
export async function loadPoly1305(): Promise<void> {
  const { default: loaded } = await import('libsodium-wrappers-sumo');
  await loaded.ready;
  sodium = loaded;
}

/**
 * The Poly1305 tag of a message.
 * @param key the 16 bytes `r`, which the function clamps, and the 16 bytes `s` that are added at the end
 */
export function poly1305(message: Uint8Array, key: Uint8Array): Uint8Array {
  if (!sodium) throw new Error('libsodium is not loaded.');
  return sodium.crypto_onetimeauth(message, key);
}

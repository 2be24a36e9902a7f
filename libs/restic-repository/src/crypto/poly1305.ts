import sodium from 'libsodium-wrappers-sumo';

/** Resolves when the other functions of this file can be called: libsodium is WebAssembly, which is compiled first. */
export const poly1305IsReady = (): Promise<void> => sodium.ready;

/**
 * The Poly1305 tag of a message.
 * @param key the 16 bytes `r`, which the function clamps, and the 16 bytes `s` that are added at the end
 */
export const poly1305 = (message: Uint8Array, key: Uint8Array): Uint8Array => sodium.crypto_onetimeauth(message, key);

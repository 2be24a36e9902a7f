/** Smaller chunks are not worth the call. */
const MIN_RELEASED_BYTES = 8 * 1024;

/**
 * Frees the memory of a chunk of a body that nothing uses anymore. It is outside of the JavaScript heap, which hardly
 * grows by it, so the garbage collector would find hundreds of MiB of such chunks only much later. The chunk is empty
 * afterwards; a part of a larger buffer is left to the collector.
 */
export function releaseBytes(bytes: Buffer): void {
  if (bytes.length < MIN_RELEASED_BYTES) return;
  const { buffer } = bytes;
  if (bytes.length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

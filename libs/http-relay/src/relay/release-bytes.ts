/** Smaller chunks are not worth the call. */
const MIN_RELEASED_BYTES = 8 * 1024;

/**
 * Frees the memory of a chunk that was read from a socket and that nothing uses anymore. Each read allocates a chunk
 * outside of the JavaScript heap, which hardly grows by it, so the garbage collector would find hundreds of MiB of them
 * only much later. The chunk is empty afterwards; a part of a chunk is left to the collector.
 */
export function releaseBytes(bytes: Buffer): void {
  if (bytes.length < MIN_RELEASED_BYTES) return;
  const { buffer } = bytes;
  if (bytes.length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

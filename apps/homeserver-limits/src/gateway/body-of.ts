import type { Readable } from 'node:stream';

/** Reads an upstream's whole answer of at most `limit` bytes. Rejects when it is longer. */
export async function bodyOf(stream: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw new Error(`the upstream's answer is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

import { DomainError } from '@headgate/domain-contracts';
import { paddingOf, readTar, sumOf, TAR_BLOCK_BYTES } from './read-tar.js';

/** @returns the new content of a small text file of the archive; undefined for a file that stays as it is */
export type RewriteFile = (name: string, text: () => Promise<string>) => Promise<string | undefined>;

/** A description of a container with thousands of snapshots is smaller. */
const MAX_TEXT_BYTES = 64 * 1024 ** 2;
const END = Buffer.alloc(2 * TAR_BLOCK_BYTES);

/** Replaces the content of text files while an archive passes. Everything else stays as it is, byte by byte. */
export async function* rewriteTar(stream: AsyncIterable<Buffer>, rewrite: RewriteFile): AsyncGenerator<Buffer> {
  for await (const entry of readTar(stream)) {
    const { name, sizeBytes, head } = entry;
    const text = async (): Promise<string> => {
      if (sizeBytes > MAX_TEXT_BYTES) throw new DomainError('BACKEND_FAILED', `${name} of the archive is too large.`);
      const parts: Buffer[] = [];
      for await (const part of entry.content()) parts.push(part);
      return Buffer.concat(parts).toString();
    };
    const rewritten = await rewrite(name, text);
    if (rewritten === undefined) {
      yield head;
      yield* entry.content();
      yield Buffer.alloc(paddingOf(sizeBytes));
    } else {
      const content = Buffer.from(rewritten);
      yield resized(head, content.length);
      yield content;
      yield Buffer.alloc(paddingOf(content.length));
    }
  }
  yield END;
}

/** @param head of a file whose size is in the header itself, as that of every small file */
function resized(head: Buffer, sizeBytes: number): Buffer {
  const resizedHead = Buffer.from(head);
  const header = resizedHead.subarray(-TAR_BLOCK_BYTES);
  header.write(`${sizeBytes.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return resizedHead;
}

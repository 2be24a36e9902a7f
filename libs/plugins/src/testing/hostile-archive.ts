import { pack, type Header } from 'tar-stream';

export type TarEntry = Partial<Header> & { readonly name: string; readonly content?: string | Buffer };

/** A tar archive with any entries, also those that no honest tool writes. */
export async function buildTar(...entries: readonly TarEntry[]): Promise<Buffer> {
  const archive = pack();
  for (const { content = '', ...header } of entries) archive.entry(header, content);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

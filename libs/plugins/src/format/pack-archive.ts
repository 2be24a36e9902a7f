import { pack } from 'tar-stream';

// The tools run this file without a build: it imports nothing of this project.

/** Packs files into a tar archive. The same files always result in the same bytes. */
export async function packArchive(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const archive = pack();
  const entries = Object.entries(files).sort(([left], [right]) => (left < right ? -1 : 1));
  for (const [name, content] of entries)
    archive.entry({ name, mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) }, content);
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

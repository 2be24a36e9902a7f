import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import type { HttpServer } from './http-server.js';

export const digestOf = (content: Buffer | string): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** An uncompressed layer with the given files. */
export async function layerOf(files: Record<string, Buffer>): Promise<Buffer> {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content);
  tar.finalize();
  return buffer(tar);
}

/** Serves a repository: an index by platform as the tag `latest`, its manifest and its layers. */
export function serveImage(
  server: HttpServer,
  repository: string,
  layers: readonly Buffer[],
  { architecture = 'amd64' } = {},
): void {
  const manifest = JSON.stringify({
    schemaVersion: 2,
    layers: layers.map((layer) => ({
      mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
      digest: digestOf(layer),
      size: layer.length,
    })),
  });
  const index = JSON.stringify({
    schemaVersion: 2,
    manifests: [
      { digest: `sha256:${'1'.repeat(64)}`, size: 1, platform: { os: 'windows', architecture } },
      { digest: digestOf(manifest), size: manifest.length, platform: { os: 'linux', architecture } },
    ],
  });
  server.serve(`/v2/${repository}/manifests/latest`, index);
  server.serve(`/v2/${repository}/manifests/${digestOf(manifest)}`, manifest);
  for (const layer of layers) server.serve(`/v2/${repository}/blobs/${digestOf(layer)}`, layer);
}

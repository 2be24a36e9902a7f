import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '@headgate/domain-contracts';
import { extract } from 'tar-stream';
import { decompress } from './decompress.js';
import { intoFile, type DownloadOptions } from './download-image.js';
import type { HttpGet } from './http-get.js';
import { parseImageReference } from './image-reference.js';
import { OciRegistry } from './oci-registry.js';
import { countBytes } from './progress.js';

/** Where a container disk keeps its image. Source: https://kubevirt.io/user-guide/storage/disks_and_volumes/#containerdisk */
const DISK_FOLDER = /^(?:\.?\/)?disk\/([^/]+)$/;

/** libvirt's words for architectures in Go's. */
const GO_ARCHITECTURES: Record<string, string> = {
  x86_64: 'amd64',
  aarch64: 'arm64',
  ppc64le: 'ppc64le',
  s390x: 's390x',
};

const goArchitecture = (arch: string): string => GO_ARCHITECTURES[arch] ?? arch;

/**
 * Pulls a container disk and writes the disk image in it to a file.
 * @param arch the machine's architecture in libvirt's words
 * @throws DomainError INVALID_SOURCE, BACKEND_UNREACHABLE, BACKEND_FAILED, INSUFFICIENT_STORAGE, CONFLICT when it was cancelled
 */
export async function pullContainerDisk(
  http: HttpGet,
  image: string,
  arch: string,
  file: string,
  { signal, onBytes }: DownloadOptions,
): Promise<void> {
  const registry = new OciRegistry(http, parseImageReference(image), signal);
  const layers = await registry.layers(goArchitecture(arch));
  // What a higher layer holds covers what is below it.
  for (const layer of [...layers].reverse()) {
    let found = false;
    await intoFile(async () => {
      const blob = await registry.blob(layer);
      const counted = blob.pipe(countBytes(layer.size, onBytes));
      blob.on('error', (error) => counted.destroy(error));
      found = await extractDisk(await decompress(counted), file, signal);
    }, signal);
    if (found) return;
  }
  throw new DomainError('INVALID_SOURCE', `${image} is no container disk: it has no file in its folder /disk.`);
}

/** Reads the whole layer, so that its checksum is proven, and keeps the one file that is a disk. */
async function extractDisk(layer: Readable, file: string, signal: AbortSignal): Promise<boolean> {
  let found = false;
  const tar = extract();
  tar.on('entry', (header, content, next) => {
    const name = DISK_FOLDER.exec(header.name)?.[1];
    // Whiteouts and folders are no disks; links would lead out of the image.
    const isDisk = header.type === 'file' && name !== undefined && !name.startsWith('.') && !found;
    if (!isDisk) {
      content.on('end', next);
      content.resume();
      return;
    }
    found = true;
    pipeline(content, createWriteStream(file, { mode: 0o600 }), { signal }).then(() => next(), next);
  });
  await pipeline(layer, tar, { signal });
  return found;
}

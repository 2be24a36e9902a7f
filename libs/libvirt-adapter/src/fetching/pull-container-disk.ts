import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '@headgate/domain-contracts';
import { extract } from 'tar-stream';
import { decompress } from './decompress.js';
import { translateWriteErrors, type DownloadOptions } from './download-image.js';
import type { HttpClient } from './http-get.js';
import { parseImageReference } from './image-reference.js';
import { chain, limitBytes, limitRatio } from './limits.js';
import { OciRegistry } from './oci-registry.js';
import { countBytes } from './progress.js';

/** Path of the disk image in a container disk. Source: https://kubevirt.io/user-guide/storage/disks_and_volumes/#containerdisk */
const DISK_FOLDER = /^(?:\.?\/)?disk\/([^/]+)$/;

/** The most that a layer may contain besides its disk image. */
const OTHER_FILES_BYTES = 1024 ** 3;

/** Go's architecture names by libvirt's. */
const GO_ARCHITECTURES: Record<string, string> = {
  x86_64: 'amd64',
  aarch64: 'arm64',
  ppc64le: 'ppc64le',
  s390x: 's390x',
};

const goArchitecture = (arch: string): string => GO_ARCHITECTURES[arch] ?? arch;

export interface ContainerDiskPull {
  readonly http: HttpClient;
  /** Reference of the container image. */
  readonly image: string;
  /** The guest architecture as libvirt names it. */
  readonly arch: string;
  /** Path of the file to write. */
  readonly file: string;
}

/**
 * Pulls a container disk and writes its disk image to a file.
 * @throws DomainError INVALID_SOURCE, BACKEND_UNREACHABLE, BACKEND_FAILED, INSUFFICIENT_STORAGE, CONFLICT when it is canceled
 */
export async function pullContainerDisk(
  { http, image, arch, file }: ContainerDiskPull,
  { signal, onBytes, maxBytes, space }: DownloadOptions,
): Promise<void> {
  const registry = new OciRegistry(http, parseImageReference(image), signal);
  const layers = await registry.layers(goArchitecture(arch));
  // Upper layers override lower ones.
  for (const layer of [...layers].reverse()) {
    let found = false;
    await translateWriteErrors(async () => {
      const release = await space.reserve(Math.min(layer.size, maxBytes));
      try {
        const ratio = limitRatio();
        const blob = await registry.blob(layer);
        const compressed = chain(blob, limitBytes(maxBytes), countBytes(layer.size, onBytes), ratio.compressed);
        const content = chain(
          await decompress(compressed),
          ratio.decompressed,
          limitBytes(maxBytes + OTHER_FILES_BYTES),
          space.watch(),
        );
        found = await extractDisk(content, file, signal);
      } finally {
        release();
      }
    }, signal);
    if (found) return;
  }
  throw new DomainError('INVALID_SOURCE', `${image} is not a container disk: it has no file in its folder /disk.`);
}

/** Reads the whole layer, so that its checksum is verified, and stores the disk image that it contains. */
async function extractDisk(layer: Readable, file: string, signal: AbortSignal): Promise<boolean> {
  let found = false;
  const tar = extract();
  tar.on('entry', (header, content, next) => {
    const name = DISK_FOLDER.exec(header.name)?.[1];
    // Whiteouts and folders are not disks, and links could point outside the image.
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

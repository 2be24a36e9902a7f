import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '@headgate/domain-contracts';
import { extract } from 'tar-stream';
import { decompress } from './decompress.js';
import { translateWriteErrors, type OpenImage, type SaveOptions } from './open-image.js';
import type { HttpClient } from './http-get.js';
import { parseImageReference } from './image-reference.js';
import { chain, limitBytes, limitRatio } from './limits.js';
import { OciRegistry, type OciDescriptor } from './oci-registry.js';
import { countBytes, hashBytes } from './progress.js';

/**
 * Path of the disk image in a container disk. Source:
 * https://kubevirt.io/user-guide/storage/disks_and_volumes/#containerdisk
 */
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
  readonly signal: AbortSignal;
}

/**
 * Opens a container disk. Its layers, which are named by their content, are its identity.
 * @throws DomainError INVALID_SOURCE, BACKEND_UNREACHABLE, BACKEND_FAILED, CONFLICT when it is canceled
 */
export async function openContainerDisk({ http, image, arch, signal }: ContainerDiskPull): Promise<OpenImage> {
  const registry = new OciRegistry(http, parseImageReference(image), signal);
  const layers = await registry.layers(goArchitecture(arch));
  return {
    identity: JSON.stringify(layers.map(({ digest }) => digest)),
    discard: () => undefined,
    save: async (file, options) => {
      // Upper layers override lower ones.
      for (const layer of [...layers].reverse()) {
        const digest = await saveLayer({ registry, layer, file, signal }, options);
        if (digest !== undefined) return digest;
      }
      throw new DomainError('INVALID_SOURCE', `${image} is not a container disk: it has no file in its folder /disk.`);
    },
  };
}

interface LayerDownload {
  readonly registry: OciRegistry;
  readonly layer: OciDescriptor;
  readonly file: string;
  readonly signal: AbortSignal;
}

/** @returns the digest of the disk image; undefined if the layer has none */
const saveLayer = (
  { registry, layer, file, signal }: LayerDownload,
  { onBytes, maxBytes, space }: SaveOptions,
): Promise<string | undefined> =>
  translateWriteErrors(async () => {
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
      return await extractDisk(content, file, signal);
    } finally {
      release();
    }
  }, signal);

/** Reads the whole layer, so that its checksum is verified, and stores the disk image that it contains. */
async function extractDisk(layer: Readable, file: string, signal: AbortSignal): Promise<string | undefined> {
  let found: ReturnType<typeof hashBytes> | undefined;
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
    found = hashBytes();
    pipeline(content, found.stream, createWriteStream(file, { mode: 0o600 }), { signal }).then(() => next(), next);
  });
  await pipeline(layer, tar, { signal });
  return found?.hex();
}

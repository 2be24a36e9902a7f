import type { CloudImage } from '@headgate/domain-contracts';
import { fetchChecksum } from './checksum-list.js';
import type { HttpClient } from './http-get.js';
import { openImage, type OpenImage } from './open-image.js';

/**
 * Opens an image of the catalog. Its identity is the checksum that its publisher lists, so an image that is in the
 * cache is not requested at all.
 * @throws DomainError INVALID_SOURCE, BACKEND_UNREACHABLE, BACKEND_FAILED, BACKEND_TIMEOUT, CONFLICT when it is
 *   canceled
 */
export async function openCloudImage(http: HttpClient, image: CloudImage, signal: AbortSignal): Promise<OpenImage> {
  const digest = await fetchChecksum(http, image, signal);
  return {
    identity: JSON.stringify([image.url, digest]),
    discard: () => undefined,
    save: async (file, options) => {
      const opened = await openImage(http, `${image.url}#${digest}`, signal);
      return opened.save(file, options);
    },
  };
}

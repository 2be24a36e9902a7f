import { JsonIndex } from './json-index.js';

interface IndexedImage {
  /** The virtual size. */
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
  /** A layer of a deleted VM that the disks of its clones are based on, instead of an image. */
  readonly isLayer?: boolean;
}

/**
 * The complete base images of this service, by the names of their volumes. An image is listed after it has been stored,
 * so an image without an entry is incomplete. Losing the file only costs another download.
 */
export class BaseImageIndex extends JsonIndex<IndexedImage> {
  /** Names of the layers of deleted VMs. */
  async layers(): Promise<string[]> {
    return [...(await this.all())].filter(([, { isLayer }]) => isLayer).map(([name]) => name);
  }
}

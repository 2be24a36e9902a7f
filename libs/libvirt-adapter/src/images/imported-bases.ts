import type { BaseImage } from '../storage/base-images.js';

/** The imported images as bases of disks. */
export interface ImportedBases {
  /** The virtual size of an image that is ready; undefined if there is none of this name. */
  bytesOf(name: string): Promise<number | undefined>;
  /** Keeps an image from being deleted during the work. @throws DomainError IMAGE_NOT_FOUND */
  use(name: string, work: (base: Omit<BaseImage, 'name'>) => Promise<void>): Promise<void>;
}

import { DomainError } from '../values/domain-error.js';
import type { Plan } from '../model/plan.js';
import type { BackgroundWork } from '../model/task.js';

/** Names one imported image. */
export interface ImageRef {
  readonly context: string;
  readonly namespace: string;
  readonly name: string;
}

/** `image/<context>/<namespace>/<name>`, each part percent-encoded on its own. */
export const formatImageRef = ({ context, namespace, name }: ImageRef): string =>
  ['image', context, namespace, name].map(encodeURIComponent).join('/');

/** The phases of an image, in the words of CDI, which has more of them. */
export const IMAGE_PHASE = {
  /** The service receives the file. */
  uploading: 'UploadReady',
  importing: 'ImportInProgress',
  ready: 'Succeeded',
  failed: 'Failed',
} as const;

/** A disk image that was imported under a name of its own, so that VMs can be created from it. */
export interface ImportedImage {
  readonly ref: ImageRef;
  /** The virtual size. */
  readonly bytes: number;
  /** A word of `IMAGE_PHASE`, or another one of CDI. */
  readonly phase: string;
  /** 0 to 1, or null if unknown. */
  readonly progress: number | null;
  /** The URL without query and credentials, `upload`, or what the backend says. */
  readonly source: string;
  /** One sentence about an import that failed or makes no progress. */
  readonly reason?: string;
  readonly createdAt?: string;
}

export type ImageOrigin =
  | {
      readonly kind: 'url';
      readonly url: string;
      /** Of the download, such as `sha256:<64 hex digits>`. */
      readonly checksum?: string;
    }
  | {
      readonly kind: 'upload';
      /**
       * A complete file on this machine, in a private folder that the caller removes after the import. It may be moved.
       */
      readonly file: string;
    };

export interface NewImage {
  readonly ref: ImageRef;
  /** The virtual size. A smaller disk is extended to it, a larger one is refused. */
  readonly bytes: number;
  readonly origin: ImageOrigin;
}

/** An image before its file exists: an upload has only begun. */
export type PlannedImage = Omit<NewImage, 'origin'> & {
  readonly origin: Extract<ImageOrigin, { kind: 'url' }> | { readonly kind: 'upload' };
};

/** An interrupted import. Its URL is unknown if it may not be stored. */
export type ResumedImage = Omit<NewImage, 'origin'> & { readonly origin?: Extract<ImageOrigin, { kind: 'url' }> };

/** Imports disk images under names of their own, lists and deletes them. The disks of VMs are not among them. */
export abstract class ImportedImages {
  /** Complete, running and failed imports. */
  abstract list(): Promise<readonly ImportedImage[]>;

  /** Changes nothing. The plan contains every refusal that the backend can foresee. */
  abstract planImport(image: PlannedImage): Promise<Plan>;

  /**
   * Reserves the name and begins the import. A failed import stays in the list with its reason, without any data.
   * @throws DomainError ALREADY_EXISTS, INVALID_SOURCE, INSUFFICIENT_STORAGE, BACKEND_UNREACHABLE
   */
  abstract import(image: NewImage): Promise<BackgroundWork>;

  /**
   * Continues an import from a URL that a restart of the service has interrupted, also if it had not begun. Does
   * nothing if the image is complete.
   * @throws DomainError IMAGE_NOT_FOUND, INVALID_SOURCE without its URL where the service itself downloads,
   *   BACKEND_FAILED if it had failed
   */
  abstract resume(image: ResumedImage): Promise<BackgroundWork>;

  abstract planDelete(ref: ImageRef): Promise<Plan>;

  /**
   * Removes the image, and cancels its import if it is running.
   * @throws DomainError IMAGE_NOT_FOUND, BUSY while a VM needs it
   */
  abstract delete(ref: ImageRef): Promise<void>;
}

export const imageNotFound = ({ namespace, name }: Omit<ImageRef, 'context'>): DomainError =>
  new DomainError('IMAGE_NOT_FOUND', `There is no imported image ${namespace}/${name}.`);

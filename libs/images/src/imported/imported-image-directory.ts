import {
  chooseNamespace,
  DomainError,
  expectInstanceName,
  imageNotFound,
  matchesNameRule,
  UnavailableAbility,
  type Backend,
  type BackendDirectory,
  type ImageRef,
  type ImportedImages,
} from '@headgate/domain-contracts';
import type { Upload, Uploads } from './uploads.js';

/** Names an image over all contexts, or in one of them. */
export interface ImageQuery {
  readonly namespace: string;
  readonly name: string;
  readonly context?: string;
}

export interface NewImageName {
  readonly name: string;
  readonly namespace?: string;
  readonly context?: string;
}

/** An existing image, or the upload that will become one. */
export type FoundImage =
  | { readonly ref: ImageRef; readonly images: ImportedImages; readonly upload?: undefined }
  | { readonly ref: ImageRef; readonly upload: Upload };

/** Finds imported images and uploads over all contexts, and chooses the place of new ones. */
export class ImportedImageDirectory {
  constructor(
    private readonly backends: BackendDirectory,
    private readonly uploads: Uploads,
  ) {}

  /**
   * The default context is the first configured one, and the default namespace is that of its backend.
   * @throws DomainError CONTEXT_NOT_FOUND, INVALID_NAME, INVALID_INPUT, NOT_SUPPORTED
   */
  place({ name, namespace, context }: NewImageName): { ref: ImageRef; images: ImportedImages } {
    const backend = context === undefined ? this.first() : this.backends.get(context);
    const images = backend.require('images');
    const ref = {
      context: backend.context,
      namespace: expectInstanceName(chooseNamespace(backend.traits, backend.context, namespace), 'namespace'),
      name: expectInstanceName(name),
    };
    const { instanceNames } = backend.traits;
    if (!matchesNameRule(instanceNames, name))
      throw new DomainError('INVALID_NAME', `name must ${instanceNames.description} on ${backend.context}.`);
    return { ref, images };
  }

  /** @throws DomainError CONTEXT_NOT_FOUND, NOT_SUPPORTED */
  imagesOf(context: string): ImportedImages {
    return this.backends.get(context).require('images');
  }

  /**
   * @throws DomainError IMAGE_NOT_FOUND, AMBIGUOUS_IMAGE when several contexts have one, or the error of a context that
   *   might have it
   */
  async find({ namespace, name, context }: ImageQuery): Promise<FoundImage> {
    const backends = (context === undefined ? this.backends.all() : [this.backends.get(context)]).filter(hasImages);
    const answers = await Promise.allSettled(backends.map((backend) => this.findIn(backend, namespace, name)));
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []));
    const [image, other] = found;
    if (other) {
      throw new DomainError('AMBIGUOUS_IMAGE', `Several contexts have an image ${namespace}/${name}: set context.`, {
        details: { contexts: found.map(({ ref }) => ref.context) },
      });
    }
    if (image) return image;
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (failed) throw failed.reason;
    throw imageNotFound({ namespace, name });
  }

  private async findIn(backend: Backend, namespace: string, name: string): Promise<FoundImage | undefined> {
    const ref = { context: backend.context, namespace, name };
    const images = backend.require('images');
    const isListed = (await images.list()).some(
      (image) => image.ref.namespace === namespace && image.ref.name === name,
    );
    if (isListed) return { ref, images };
    const upload = this.uploads.get(ref);
    return upload && { ref, upload };
  }

  private first(): Backend {
    const [backend] = this.backends.all();
    if (!backend) throw new DomainError('BACKEND_UNREACHABLE', 'No context is configured.');
    return backend;
  }
}

export const hasImages = (backend: Backend): boolean => !(backend.ability('images') instanceof UnavailableAbility);

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  buildPlan,
  Change,
  displayUrl,
  DomainError,
  formatImageRef,
  parseDiskSize,
  throwFirstRefusal,
  type Audit,
  type BackgroundWork,
  type Caller,
  type ImageRef,
  type ImportedImages,
  type NewImage,
  type Plan,
  type TaskRunner,
} from '@headgate/domain-contracts';
import type { ImageQuery, ImportedImageDirectory, NewImageName } from './imported-image-directory.js';
import { discard, uploadCanceled, type Upload, type UploadRequest, type Uploads } from './uploads.js';

export interface ImageDeps {
  readonly directory: ImportedImageDirectory;
  readonly uploads: Uploads;
  readonly tasks: TaskRunner;
  readonly audit: Audit;
}

/** The size of an image if the request has none. It is also the default size of the disk of a VM. */
const DEFAULT_SIZE = '20G';

export interface ImportRequest extends NewImageName {
  readonly url: string;
  readonly size?: string;
  readonly checksum?: string;
}

export interface AcceptedImage {
  readonly ref: ImageRef;
  /** Absent while the upload is incomplete. */
  readonly task?: string;
}

/** Imports an image from a URL. */
export class ImportImage extends Change<[request: ImportRequest], AcceptedImage> {
  constructor(private readonly deps: ImageDeps) {
    super();
  }

  override async plan(request: ImportRequest): Promise<Plan> {
    const { images, image } = this.prepare(request);
    return images.planImport(image);
  }

  override async run(request: ImportRequest, caller: Caller): Promise<AcceptedImage> {
    const { images, image } = this.prepare(request);
    const { ref } = image;
    return this.deps.audit.of(
      caller,
      'import image',
      formatImageRef(ref),
      async () => ({ ref, task: this.deps.tasks.start('import', ref, caller, await images.import(image)) }),
      () => displayUrl(request.url),
    );
  }

  /** @throws DomainError ALREADY_EXISTS while a file is being uploaded under the name */
  private prepare({ url, checksum, size = DEFAULT_SIZE, ...name }: ImportRequest): {
    images: ImportedImages;
    image: NewImage & { origin: { kind: 'url' } };
  } {
    const { ref, images } = this.deps.directory.place(name);
    if (this.deps.uploads.get(ref))
      throw new DomainError(
        'ALREADY_EXISTS',
        `${ref.name} is being uploaded: delete it first, or choose another name.`,
      );
    return { images, image: { ref, bytes: parseDiskSize(size), origin: { kind: 'url', url, checksum } } };
  }
}

export interface UploadPart extends NewImageName {
  readonly size?: string;
  /** The length of the whole file. */
  readonly fileBytes: number;
  /** Where in the file the part begins. */
  readonly offset: number;
  readonly version?: string;
  readonly checksum?: string;
  readonly body: Readable;
}

export interface ReceivedPart extends AcceptedImage {
  /** How many bytes of the file have been received: where the next part begins. */
  readonly offset: number;
}

/** Receives a part of a file. The last part begins the import. */
export class UploadImage extends Change<[part: UploadPart], ReceivedPart> {
  constructor(private readonly deps: ImageDeps) {
    super();
  }

  override async plan(part: UploadPart): Promise<Plan> {
    discard(part.body);
    const { images, request } = this.prepare(part);
    return images.planImport(plannedUpload(request));
  }

  override async run(part: UploadPart, caller: Caller): Promise<ReceivedPart> {
    const { uploads, audit } = this.deps;
    const { images, request, upload } = await this.open(part).catch((error: unknown) => {
      discard(part.body);
      throw error;
    });
    const { ref } = request;
    const isComplete = await uploads.receive(upload, part.body);
    if (!isComplete) return { ref, offset: upload.receivedBytes };
    const work = this.importUpload(images, request, upload.file);
    // Only the last part is recorded: there may be thousands.
    return audit.of(caller, 'upload image', formatImageRef(ref), async () => ({
      ref,
      offset: request.fileBytes,
      task: this.deps.tasks.start('import', ref, caller, work),
    }));
  }

  private async open(part: UploadPart): Promise<{ images: ImportedImages; request: UploadRequest; upload: Upload }> {
    const { uploads } = this.deps;
    const { images, request } = this.prepare(part);
    if (!uploads.get(request.ref)) throwFirstRefusal(await images.planImport(plannedUpload(request)));
    return { images, request, upload: await uploads.open(request, part.offset) };
  }

  private prepare({ size = DEFAULT_SIZE, fileBytes, version, checksum, ...part }: UploadPart): {
    images: ImportedImages;
    request: UploadRequest;
  } {
    const { ref, images } = this.deps.directory.place(part);
    if (part.offset > fileBytes) throw new DomainError('INVALID_INPUT', 'offset must not be larger than bytes.');
    return { images, request: { ref, imageBytes: parseDiskSize(size), fileBytes, version, checksum } };
  }

  /** The upload keeps the name until the import has ended. */
  private importUpload(
    images: ImportedImages,
    { ref, imageBytes, checksum }: UploadRequest,
    file: string,
  ): BackgroundWork {
    return async (report) => {
      try {
        if (checksum !== undefined) {
          report.step('Verifying the checksum');
          await verify(file, checksum, report.signal);
        }
        if (!this.deps.uploads.get(ref)) throw uploadCanceled(ref);
        const work = await images.import({ ref, bytes: imageBytes, origin: { kind: 'upload', file } });
        await work(report);
      } finally {
        await this.deps.uploads.remove(ref);
      }
    };
  }
}

/** Deletes an image, or cancels its import or upload. */
export class DeleteImage extends Change<[query: ImageQuery]> {
  constructor(private readonly deps: Pick<ImageDeps, 'directory' | 'uploads' | 'audit'>) {
    super();
  }

  override async plan(query: ImageQuery): Promise<Plan> {
    const found = await this.deps.directory.find(query);
    if (found.upload) return buildPlan([{ name: 'delete', detail: `Cancel the upload of ${found.ref.name}.` }]);
    return found.images.planDelete(found.ref);
  }

  override async run(query: ImageQuery, caller: Caller): Promise<void> {
    const { directory, uploads, audit } = this.deps;
    const found = await directory.find(query);
    await audit.of(caller, 'delete image', formatImageRef(found.ref), () =>
      found.upload ? uploads.remove(found.ref) : found.images.delete(found.ref),
    );
  }
}

const plannedUpload = ({ ref, imageBytes }: UploadRequest) =>
  ({ ref, bytes: imageBytes, origin: { kind: 'upload' } }) as const;

/** @throws DomainError INVALID_INPUT */
async function verify(file: string, checksum: string, signal: AbortSignal): Promise<void> {
  const [algorithm = 'sha256', expected] = checksum.split(':');
  const hash = createHash(algorithm);
  await pipeline(createReadStream(file), hash, { signal });
  const actual = hash.digest('hex');
  if (actual !== expected)
    throw new DomainError('INVALID_INPUT', `The file has the checksum ${algorithm}:${actual}, not ${checksum}.`);
}

import { createHash, randomUUID } from 'node:crypto';
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
  reporterOf,
  throwFirstRefusal,
  workOn,
  type Audit,
  type BackgroundWork,
  type Caller,
  type DefinedTask,
  type ImageRef,
  type ImportedImages,
  type NewImage,
  type Plan,
  type Reservation,
  type Reservations,
  type StepContext,
  type TaskRunner,
  type Work,
} from '@headgate/domain-contracts';
import type { FoundImage, ImageQuery, ImportedImageDirectory, NewImageName } from './imported-image-directory.js';
import { discard, uploadCanceled, type Upload, type UploadRequest, type Uploads } from './uploads.js';

export interface ImageDeps {
  readonly directory: ImportedImageDirectory;
  readonly uploads: Uploads;
  readonly tasks: TaskRunner;
  readonly audit: Audit;
  readonly reservations: Reservations;
}

/** The size of an image if the request has none. It is also the default size of the disk of a VM. */
const DEFAULT_SIZE = '20G';

/** An import reports its progress, unless its engine waits for storage. */
const STALL_MS = 60 * 60_000;

type UrlImage = NewImage & { readonly origin: { readonly kind: 'url' } };

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

/** The journaled order of an import. */
interface ImportInput {
  /** A UUID that identifies the import within its process. */
  readonly id: string;
  readonly image: ImageRef;
  readonly bytes: number;
  /** Not stored if it has a query, which may be a secret. */
  readonly url?: string;
  readonly checksum?: string;
}

/** An import with the name that it takes. */
interface PlacedImport {
  readonly request: ImportRequest;
  readonly ref: ImageRef;
  readonly images: ImportedImages;
}

/** Imports an image from a URL, in a task that continues after a restart. */
export class ImportImage extends Change<[request: ImportRequest], AcceptedImage, PlacedImport> {
  private readonly imports: DefinedTask<ImportInput>;
  /** The work of imports that have reserved their names. */
  private readonly begun = new Map<string, BackgroundWork>();

  constructor(private readonly deps: ImageDeps) {
    super();
    this.imports = deps.tasks.define<ImportInput>({
      kind: 'import',
      steps: () => [
        {
          name: 'Import the image',
          isCancelable: true,
          stallMs: STALL_MS,
          waitsFor: 'the image to be imported',
          ifStalled: 'The backend may still import it: delete the image, or wait for it.',
          run: (context) => this.follow(context),
        },
      ],
      resume: async ({ input }) => {
        // Throws while the context is lost, so that the task waits for it.
        this.deps.directory.imagesOf(input.image.context);
        return { action: 'continue' };
      },
    });
  }

  /** @throws DomainError those of a name that no image can have */
  protected override prepare(request: ImportRequest): PlacedImport {
    return { request, ...this.deps.directory.place(request) };
  }

  protected override async planPrepared(placed: PlacedImport): Promise<Plan> {
    const { images } = placed;
    const image = this.imageOf(placed);
    const plan = await images.planImport(image);
    return this.deps.reservations.inPlan(workOn('import', formatImageRef(image.ref)), plan);
  }

  protected override runPrepared(placed: PlacedImport, caller: Caller): Promise<AcceptedImage> {
    const { audit, reservations } = this.deps;
    const { ref, images, request } = placed;
    return reservations.during(workOn('import', formatImageRef(ref)), (reservation) => {
      const image = this.imageOf(placed);
      return audit.of(
        caller,
        'import image',
        formatImageRef(ref),
        async () => ({ ref, task: await this.begin(images, image, caller, reservation) }),
        () => displayUrl(request.url),
      );
    });
  }

  /** Reserves the name before the request is answered. @returns the ID of the task */
  private async begin(
    images: ImportedImages,
    { ref, bytes, origin }: UrlImage,
    caller: Caller,
    reservation: Reservation,
  ): Promise<string> {
    const id = randomUUID();
    this.begun.set(id, await images.import({ ref, bytes, origin }));
    const { url, checksum } = origin;
    const isStored = new URL(url).search === '';
    const input: ImportInput = {
      id,
      image: ref,
      bytes,
      ...(isStored && { url }),
      ...(checksum !== undefined && { checksum }),
    };
    try {
      return await this.imports.start({ name: ref.name, ref: formatImageRef(ref), input, reservation }, caller);
    } catch (error) {
      this.begun.delete(id);
      await images.delete(ref).catch(() => undefined);
      throw error;
    }
  }

  private async follow(context: StepContext<ImportInput>): Promise<void> {
    const { input } = context;
    const { id, image: ref, bytes, url, checksum } = input;
    const origin = url === undefined ? {} : { origin: { kind: 'url', url, checksum } as const };
    const images = this.deps.directory.imagesOf(ref.context);
    const work = this.begun.get(id) ?? (await images.resume({ ref, bytes, ...origin }));
    this.begun.delete(id);
    await work(reporterOf(context));
  }

  /** @throws DomainError ALREADY_EXISTS while a file is being uploaded under the name */
  private imageOf({ ref, request: { url, checksum, size = DEFAULT_SIZE } }: PlacedImport): UrlImage {
    if (this.deps.uploads.get(ref))
      throw new DomainError(
        'ALREADY_EXISTS',
        `${ref.name} is being uploaded: delete it first, or choose another name.`,
      );
    return { ref, bytes: parseDiskSize(size), origin: { kind: 'url', url, checksum } };
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

/** A part of a file, with the image that it belongs to. */
interface PlacedPart {
  readonly part: UploadPart;
  readonly images: ImportedImages;
  readonly request: UploadRequest;
}

/** Receives a part of a file. The last part begins the import. */
export class UploadImage extends Change<[part: UploadPart], ReceivedPart, PlacedPart> {
  constructor(private readonly deps: ImageDeps) {
    super();
  }

  protected override prepare(part: UploadPart): PlacedPart {
    try {
      return { part, ...this.place(part) };
    } catch (error) {
      discard(part.body);
      throw error;
    }
  }

  protected override async planPrepared({ part, images, request }: PlacedPart): Promise<Plan> {
    discard(part.body);
    const plan = await images.planImport(plannedUpload(request));
    return this.deps.reservations.inPlan(workOn('upload-image', formatImageRef(request.ref)), plan);
  }

  /** Between two parts, the upload keeps the name. */
  protected override async runPrepared(placed: PlacedPart, caller: Caller): Promise<ReceivedPart> {
    try {
      const work = workOn('upload-image', formatImageRef(placed.request.ref));
      return await this.deps.reservations.during(work, (reservation) => this.receive(placed, caller, reservation));
    } catch (error) {
      discard(placed.part.body);
      throw error;
    }
  }

  private async receive(placed: PlacedPart, caller: Caller, reservation: Reservation): Promise<ReceivedPart> {
    const { uploads, audit, tasks } = this.deps;
    const { part, images, request } = placed;
    const upload = await this.open(placed);
    const { ref } = request;
    const isComplete = await uploads.receive(upload, part.body);
    if (!isComplete) return { ref, offset: upload.receivedBytes };
    const work = this.importUpload(images, request, upload.file);
    // Only the last part is recorded: there may be thousands.
    return audit.of(caller, 'upload image', formatImageRef(ref), async () => ({
      ref,
      offset: request.fileBytes,
      task: await tasks.start('import', ref, caller, work, reservation),
    }));
  }

  private async open({ part, images, request }: PlacedPart): Promise<Upload> {
    const { uploads } = this.deps;
    if (!uploads.get(request.ref)) throwFirstRefusal(await images.planImport(plannedUpload(request)));
    return uploads.open(request, part.offset);
  }

  private place({
    size = DEFAULT_SIZE,
    fileBytes,
    version,
    checksum,
    ...part
  }: UploadPart): Pick<PlacedPart, 'images' | 'request'> {
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

interface DeletedImage {
  readonly query: ImageQuery;
  readonly found: FoundImage;
}

/** Deletes an image, or cancels its import or upload. */
export class DeleteImage extends Change<[query: ImageQuery], void, DeletedImage> {
  constructor(private readonly deps: Omit<ImageDeps, 'tasks'>) {
    super();
  }

  protected override async prepare(query: ImageQuery): Promise<DeletedImage> {
    return { query, found: await this.deps.directory.find(query) };
  }

  protected override async planPrepared({ found }: DeletedImage): Promise<Plan> {
    if (found.upload) return buildPlan([{ name: 'delete', detail: `Cancel the upload of ${found.ref.name}.` }]);
    const plan = await found.images.planDelete(found.ref);
    return this.isArriving(found.ref) ? plan : this.deps.reservations.inPlan(deletionOf(found.ref), plan);
  }

  protected override async runPrepared({ query, found }: DeletedImage, caller: Caller): Promise<void> {
    const { directory, reservations } = this.deps;
    if (found.upload || this.isArriving(found.ref)) return this.remove(found, caller);
    await reservations.during(deletionOf(found.ref), async () =>
      this.remove(await directory.find({ ...query, context: found.ref.context }), caller),
    );
  }

  private remove(found: FoundImage, caller: Caller): Promise<void> {
    return this.deps.audit.of(caller, 'delete image', formatImageRef(found.ref), () =>
      found.upload ? this.deps.uploads.remove(found.ref) : found.images.delete(found.ref),
    );
  }

  /** Whether an import or an upload has the name, which a deletion cancels instead of waiting for its end. */
  private isArriving(ref: ImageRef): boolean {
    return this.deps.reservations
      .conflictsOf(deletionOf(ref).uses)
      .some(({ operation }) => operation === 'import' || operation === 'upload-image');
  }
}

const deletionOf = (ref: ImageRef): Work => workOn('delete-image', formatImageRef(ref));

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

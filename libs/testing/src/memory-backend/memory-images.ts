import {
  buildPlan,
  displayUrl,
  DomainError,
  IMAGE_PHASE,
  imageNotFound,
  ImportedImages,
  throwFirstRefusal,
  type BackgroundWork,
  type ImageRef,
  type ImportedImage,
  type NewImage,
  type Plan,
  type PlannedImage,
  type ResumedImage,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

const keyOf = ({ namespace, name }: ImageRef): string => `${namespace}/${name}`;

export class MemoryImages extends ImportedImages {
  private readonly images = new Map<string, ImportedImage>();

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async list(): Promise<readonly ImportedImage[]> {
    this.engine.expectReachable();
    return [...this.images.values()];
  }

  override async planImport({ ref, origin }: PlannedImage): Promise<Plan> {
    this.engine.expectReachable();
    const reason = `The image ${ref.name} already exists.`;
    const refusals = this.images.has(keyOf(ref))
      ? [{ code: 'ALREADY_EXISTS' as const, reason, remedy: 'Choose another name.' }]
      : [];
    return buildPlan([{ name: 'import', detail: origin.kind === 'url' ? displayUrl(origin.url) : 'the upload' }], {
      refusals,
    });
  }

  override async import(image: NewImage): Promise<BackgroundWork> {
    throwFirstRefusal(await this.planImport(image));
    const { ref, bytes, origin } = image;
    const source = origin.kind === 'url' ? displayUrl(origin.url) : 'upload';
    const put = (state: Pick<ImportedImage, 'phase' | 'progress'>): void =>
      void this.images.set(keyOf(ref), { ref, bytes, source, ...state });
    put({ phase: IMAGE_PHASE.importing, progress: 0 });
    return async (report) => {
      report.step('import');
      report.progress(0.5);
      if (!this.images.has(keyOf(ref))) throw new DomainError('CONFLICT', `The import of ${ref.name} was canceled.`);
      put({ phase: IMAGE_PHASE.ready, progress: 1 });
    };
  }

  override async resume({ ref, bytes, origin }: ResumedImage): Promise<BackgroundWork> {
    this.engine.expectReachable();
    const image = this.images.get(keyOf(ref));
    if (!image && origin) return this.import({ ref, bytes, origin });
    if (!image) throw imageNotFound(ref);
    return async () => void this.images.set(keyOf(ref), { ...image, phase: IMAGE_PHASE.ready, progress: 1 });
  }

  override async planDelete(ref: ImageRef): Promise<Plan> {
    this.engine.expectReachable();
    if (!this.images.has(keyOf(ref))) throw imageNotFound(ref);
    const users = this.usersOf(ref);
    const refusals =
      users.length === 0
        ? []
        : [
            {
              code: 'BUSY' as const,
              reason: `${users.join(', ')} is based on the image ${ref.name}.`,
              remedy: 'Delete that VM first.',
            },
          ];
    return buildPlan([{ name: 'delete', detail: ref.name }], { refusals });
  }

  override async delete(ref: ImageRef): Promise<void> {
    throwFirstRefusal(await this.planDelete(ref));
    this.images.delete(keyOf(ref));
  }

  private usersOf(ref: ImageRef): string[] {
    return this.engine
      .all()
      .map((instance) => instance.ref)
      .filter((vm) => this.engine.imageOf(vm) === keyOf(ref))
      .map(({ name }) => name);
  }
}

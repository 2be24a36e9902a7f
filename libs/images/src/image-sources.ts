import {
  buildPlan,
  Change,
  DomainError,
  DOWNLOAD_URL_RULE,
  IMAGE_REFERENCE_RULE,
  ImageCatalog,
  isDownloadUrl,
  isImageReference,
  type Audit,
  type Caller,
  type CatalogEntry,
  type CustomSource,
  type Plan,
  type SourceStore,
} from '@headgate/domain-contracts';

/** The configured images, followed by the custom sources. */
export class CatalogWithSources extends ImageCatalog {
  constructor(
    private readonly configured: ImageCatalog,
    private readonly sources: SourceStore,
  ) {
    super();
  }

  override entries(): readonly CatalogEntry[] {
    return [...this.configured.entries(), ...this.custom()];
  }

  /** Only the custom sources. */
  custom(): readonly CatalogEntry[] {
    return this.sources.all().map(entryOf);
  }

  override find(name: string): CatalogEntry {
    const source = this.sources.get(name);
    return source ? entryOf(source) : this.configured.find(name);
  }
}

/** Adds a custom source, or replaces the one of the same name. */
export class AddSource extends Change<[source: CustomSource], void, CustomSource> {
  constructor(
    private readonly configured: ImageCatalog,
    private readonly sources: SourceStore,
    private readonly audit: Audit,
  ) {
    super();
  }

  protected override prepare(source: CustomSource): CustomSource {
    this.check(source);
    return source;
  }

  protected override async planPrepared(source: CustomSource): Promise<Plan> {
    const verb = this.sources.get(source.name) ? 'replace' : 'add';
    return buildPlan([{ name: `${verb} source`, detail: `${source.name}: ${source.uri}` }]);
  }

  protected override async runPrepared(source: CustomSource, caller: Caller): Promise<void> {
    await this.audit.of(
      caller,
      'add source',
      `source/${source.name}`,
      () => this.sources.put(source),
      () => source.uri,
    );
  }

  /** @throws DomainError INVALID_INPUT, ALREADY_EXISTS for the name of a built-in image */
  private check({ name, kind, uri }: CustomSource): void {
    const isReference = kind === 'containerDisk';
    if (!(isReference ? isImageReference(uri) : isDownloadUrl(uri)))
      throw new DomainError('INVALID_INPUT', `uri must be ${isReference ? IMAGE_REFERENCE_RULE : DOWNLOAD_URL_RULE}.`);
    if (this.configured.entries().some((entry) => entry.name === name))
      throw new DomainError('ALREADY_EXISTS', `${name} is a built-in image; choose another name.`);
  }
}

/** Removes a custom source. VMs that were created from it are not affected. */
export class RemoveSource extends Change<[name: string], void, string> {
  constructor(
    private readonly sources: SourceStore,
    private readonly audit: Audit,
  ) {
    super();
  }

  protected override prepare(name: string): string {
    if (!this.sources.get(name)) throw new DomainError('SOURCE_NOT_FOUND', `There is no custom source ${name}.`);
    return name;
  }

  protected override async planPrepared(name: string): Promise<Plan> {
    return buildPlan([{ name: 'remove source', detail: name }]);
  }

  protected override async runPrepared(name: string, caller: Caller): Promise<void> {
    await this.audit.of(caller, 'remove source', `source/${name}`, async () => {
      await this.sources.delete(name);
    });
  }
}

const entryOf = ({ name, kind, uri, description }: CustomSource): CatalogEntry => ({
  name,
  description,
  containerDisk: kind === 'containerDisk' ? uri : '',
  defaultUser: '',
  custom: true,
  ...(kind === 'containerDisk' ? {} : { download: { kind, url: uri } }),
});

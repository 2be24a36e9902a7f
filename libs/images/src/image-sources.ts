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
export class AddSource extends Change<[source: CustomSource]> {
  constructor(
    private readonly configured: ImageCatalog,
    private readonly sources: SourceStore,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(source: CustomSource): Promise<Plan> {
    this.check(source);
    const verb = this.sources.get(source.name) ? 'replace' : 'add';
    return buildPlan([{ name: `${verb} source`, detail: `${source.name}: ${source.uri}` }]);
  }

  override async run(source: CustomSource, caller: Caller): Promise<void> {
    this.check(source);
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
export class RemoveSource extends Change<[name: string]> {
  constructor(
    private readonly sources: SourceStore,
    private readonly audit: Audit,
  ) {
    super();
  }

  override async plan(name: string): Promise<Plan> {
    this.expect(name);
    return buildPlan([{ name: 'remove source', detail: name }]);
  }

  override async run(name: string, caller: Caller): Promise<void> {
    this.expect(name);
    await this.audit.of(caller, 'remove source', `source/${name}`, async () => {
      await this.sources.delete(name);
    });
  }

  private expect(name: string): void {
    if (!this.sources.get(name)) throw new DomainError('SOURCE_NOT_FOUND', `There is no custom source ${name}.`);
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

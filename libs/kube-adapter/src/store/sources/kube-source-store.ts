import { SILENT_LOG, SOURCE_KINDS, SourceStore, type CustomSource, type Log } from '@headgate/domain-contracts';
import { SERVICE_SOURCES } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { WatchedObjects } from '../watched-objects.js';
import { hashedName } from '../hashed-name.js';

export interface SourceSpec {
  readonly source: CustomSource;
}

const objectNameOf = (name: string): string => hashedName('source', name);

const isSource = ({ source }: Partial<SourceSpec>): boolean =>
  [source?.name, source?.uri, source?.description].every((field) => typeof field === 'string') &&
  SOURCE_KINDS.some((kind) => kind === source?.kind);

/** SourceStore in custom resources of a cluster, one for each source. */
export class KubeSourceStore extends SourceStore {
  private readonly objects: WatchedObjects<SourceSpec>;

  constructor(store: ClusterStore, log: Log = SILENT_LOG) {
    super();
    this.objects = new WatchedObjects(store, {
      resource: SERVICE_SOURCES,
      subject: 'custom source',
      isComplete: isSource,
      log,
    });
  }

  /** @throws DomainError NOT_READY when the sources can't be used; they are left as they are */
  open(): Promise<void> {
    return this.objects.open();
  }

  close(): Promise<void> {
    return this.objects.close();
  }

  override put(source: CustomSource): Promise<void> {
    return this.objects.put(objectNameOf(source.name), () => ({ source }));
  }

  override async delete(name: string): Promise<boolean> {
    const object = this.objects.get(objectNameOf(name));
    return object ? this.objects.delete(object) : false;
  }

  override all(): readonly CustomSource[] {
    return this.objects
      .all()
      .map(({ spec }) => ({ ...spec.source }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  override get(name: string): CustomSource | undefined {
    const object = this.objects.get(objectNameOf(name));
    return object && { ...object.spec.source };
  }
}

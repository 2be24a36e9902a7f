import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import type { Resource } from '../api/resources.js';

/** Objects of this service that end with the work that has created them. Everything else is an object of the user. */
export interface BeatingKind {
  readonly resource: Resource;
  /** Its value identifies the work. */
  readonly label: string;
  /** Changes as long as a service works with the object. */
  readonly beat: string;
  /** Annotations that they have besides the beat. */
  readonly annotations: readonly string[];
}

/** Finds and removes objects that a service says to use. Others may use theirs meanwhile, from another machine. */
export class BeatingObjects<T extends KubeObject = KubeObject> {
  constructor(
    private readonly api: KubeApi,
    private readonly kind: BeatingKind,
  ) {}

  /** Says that a service still uses it. */
  async beat({ metadata: { namespace, name } }: KubeObject, count: number): Promise<void> {
    const annotations = { [this.kind.beat]: String(count) };
    await this.api.patch(this.kind.resource, { namespace, name }, { metadata: { annotations } });
  }

  beatOf({ metadata }: KubeObject): string {
    return metadata.annotations?.[this.kind.beat] ?? '';
  }

  /** @param onlyVersion removes it only if it has not changed since it was read */
  async remove(
    { metadata }: KubeObject,
    { onlyVersion = false }: { readonly onlyVersion?: boolean } = {},
  ): Promise<boolean> {
    const { namespace, name, uid, resourceVersion } = metadata;
    const options = { uid, ...(onlyVersion && { resourceVersion }) };
    return this.api.delete(this.kind.resource, { namespace, name }, options);
  }

  /** Those of a namespace, or of all. @param id only those of this work */
  async all(namespace?: string, id?: string): Promise<readonly T[]> {
    const { resource, label } = this.kind;
    const listed = await this.api.list<T>(resource, {
      ...(namespace !== undefined && { namespace }),
      labelSelector: id === undefined ? label : `${label}=${id}`,
    });
    return listed.filter((object) => this.includes(object));
  }

  /** A label alone may be one that a user has copied. */
  includes({ metadata: { labels, annotations } }: KubeObject): boolean {
    const { label, beat } = this.kind;
    return [labels?.[label], ...[beat, ...this.kind.annotations].map((name) => annotations?.[name])].every(
      (value) => value !== undefined,
    );
  }
}

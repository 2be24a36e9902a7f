import type { Clock } from '@headgate/domain-contracts';
import { isNotFound, isUidMismatch, isWriteConflict, KubeApiError } from './kube-api-error.js';
import { KubeConnection, type ApiRequestOptions, type Outage, type Query } from './kube-connection.js';
import type { KubeCredentials } from './kube-credentials.js';
import type { KubeList, KubeObject } from './kube-object.js';
import { pathOf, type ObjectPath, type Resource } from './resources.js';

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly signal?: AbortSignal;
}

export interface DeleteOptions {
  /** Deletes only the object with this uid, never a later one of the same name. */
  readonly uid?: string;
  readonly gracePeriodSeconds?: number;
}

export interface KubeApiOptions {
  readonly outage?: Outage;
  readonly random?: () => number;
}

/** @see KubeApi.jsonPatch */
export interface JsonPatchOperation {
  readonly op: 'test' | 'add' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

const PAGE_SIZE = 250;
/** Retries of a write that met a conflict, and the first pause between them; the pause doubles. */
const CONFLICT_RETRIES = 6;
const CONFLICT_PAUSE_MS = 25;

/** Reads, writes and lists objects of one API server, and calls their action endpoints. Every failure is a DomainError. */
export class KubeApi extends KubeConnection {
  private readonly random: () => number;

  constructor(
    context: string,
    credentials: KubeCredentials,
    clock: Clock,
    { outage, random = Math.random }: KubeApiOptions = {},
  ) {
    super(context, credentials, clock, outage);
    this.random = random;
  }

  get<T extends KubeObject>(resource: Resource, path: ObjectPath, options?: ApiRequestOptions): Promise<T> {
    return this.json<T>('GET', pathOf(resource, path), options);
  }

  /** The object, or undefined when there is none. @throws DomainError NOT_SUPPORTED when its kind is not served */
  async find<T extends KubeObject>(
    resource: Resource,
    path: ObjectPath,
    options?: ApiRequestOptions,
  ): Promise<T | undefined> {
    try {
      return await this.get<T>(resource, path, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** A collection page by page; all pages are of one snapshot. */
  async *pages<T extends KubeObject>(resource: Resource, options: ListOptions = {}): AsyncGenerator<KubeList<T>> {
    const { namespace, labelSelector, fieldSelector, signal } = options;
    const path = pathOf(resource, { namespace });
    let next: string | undefined;
    do {
      const query: Query = { limit: PAGE_SIZE, labelSelector, fieldSelector, continue: next };
      const page: KubeList<T> = await this.json<KubeList<T>>('GET', path, { query, signal });
      yield page;
      next = page.metadata.continue || undefined;
    } while (next !== undefined);
  }

  async list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<T[]> {
    const items: T[] = [];
    for await (const page of this.pages<T>(resource, options)) items.push(...page.items);
    return items;
  }

  create<T extends KubeObject>(
    resource: Resource,
    object: KubeObject,
    { dryRun = false }: { readonly dryRun?: boolean } = {},
  ): Promise<T> {
    const path = pathOf(resource, { namespace: object.metadata.namespace });
    const query: Query = { dryRun: dryRun ? 'All' : undefined };
    const body = { apiVersion: resource.apiVersion, kind: resource.kind, ...object };
    return this.retryOnConflict(() => this.json<T>('POST', path, { body, query }));
  }

  /** A merge patch. It does not depend on the version that was read, so it is safe to send again. */
  patch<T extends KubeObject>(resource: Resource, path: ObjectPath, body: unknown): Promise<T> {
    const contentType = 'application/merge-patch+json';
    return this.retryOnConflict(() => this.json<T>('PATCH', pathOf(resource, path), { body, contentType }));
  }

  /**
   * Replaces an object. With `metadata.resourceVersion`, only that version of it. Sent once: a lost response leaves the outcome unknown.
   * @throws DomainError CONFLICT when the object has another version
   */
  replace<T extends KubeObject>(resource: Resource, object: T): Promise<T> {
    const { namespace, name } = object.metadata;
    const body = { ...object, apiVersion: resource.apiVersion, kind: resource.kind };
    return this.json<T>('PUT', pathOf(resource, { namespace, name }), { body, retry: false });
  }

  /**
   * A JSON patch: all of its operations, or none if one of its tests fails. Sent once: a lost response leaves the outcome unknown.
   * https://www.rfc-editor.org/rfc/rfc6902
   */
  jsonPatch<T extends KubeObject>(
    resource: Resource,
    path: ObjectPath,
    body: readonly JsonPatchOperation[],
    { dryRun = false }: { readonly dryRun?: boolean } = {},
  ): Promise<T> {
    const query: Query = { dryRun: dryRun ? 'All' : undefined };
    const contentType = 'application/json-patch+json';
    return this.json<T>('PATCH', pathOf(resource, path), { body, contentType, query, retry: false });
  }

  /** @returns false when the object was already gone, or another one has its name by now */
  async delete(
    resource: Resource,
    path: ObjectPath,
    { uid, gracePeriodSeconds }: DeleteOptions = {},
  ): Promise<boolean> {
    const preconditions = uid === undefined ? undefined : { uid };
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      gracePeriodSeconds,
      preconditions,
    };
    try {
      await this.retryOnConflict(() => this.json('DELETE', pathOf(resource, path), { body }));
      return true;
    } catch (error) {
      if (KubeApiError.has(error, 404)) return false;
      if (isUidMismatch(error)) return false;
      throw error;
    }
  }

  /** Calls an action endpoint. Any 2xx is a success, with or without a body. */
  async invoke(path: string, body: unknown = {}): Promise<void> {
    await this.retryOnConflict(() => this.text('PUT', path, { body }));
  }

  private async retryOnConflict<T>(write: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (attempt >= CONFLICT_RETRIES || !isWriteConflict(error)) throw error;
        await this.clock.delay(CONFLICT_PAUSE_MS * 2 ** attempt * (0.5 + this.random() / 2));
      }
    }
  }
}

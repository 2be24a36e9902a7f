import type { Clock } from '@headgate/domain-contracts';
import { isAnotherObject, isNotFound, isWriteConflict, KubeApiError } from './kube-api-error.js';
import { KubeConnection, type Query, type RequestSettings } from './kube-connection.js';
import type { KubeCredentials } from './kube-credentials.js';
import type { KubeList, KubeObject } from './kube-object.js';
import { pathOf, type ObjectPath, type Resource } from './resources.js';

export interface ListSettings {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly signal?: AbortSignal;
}

export interface DeleteSettings {
  /** Deletes only this very object, not one of the same name that came after it. */
  readonly uid?: string;
  readonly gracePeriodSeconds?: number;
}

const PAGE_SIZE = 250;
/** How often a write that lost a race is sent again, and the first pause in between; it doubles. */
const CONFLICT_RETRIES = 6;
const CONFLICT_PAUSE_MS = 25;

/** The objects of one API server: read, page by page too, written and acted upon. Every failure is a DomainError. */
export class KubeApi extends KubeConnection {
  constructor(
    context: string,
    credentials: KubeCredentials,
    clock: Clock,
    private readonly random: () => number = Math.random,
  ) {
    super(context, credentials, clock);
  }

  get<T extends KubeObject>(resource: Resource, path: ObjectPath, settings?: RequestSettings): Promise<T> {
    return this.json<T>('GET', pathOf(resource, path), settings);
  }

  /** The object, or undefined when there is none. @throws DomainError NOT_SUPPORTED when its kind is not served */
  async find<T extends KubeObject>(
    resource: Resource,
    path: ObjectPath,
    settings?: RequestSettings,
  ): Promise<T | undefined> {
    try {
      return await this.get<T>(resource, path, settings);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** A collection page by page, all of one snapshot. */
  async *pages<T extends KubeObject>(resource: Resource, settings: ListSettings = {}): AsyncGenerator<KubeList<T>> {
    const { namespace, labelSelector, fieldSelector, signal } = settings;
    const path = pathOf(resource, { namespace });
    let next: string | undefined;
    do {
      const query: Query = { limit: PAGE_SIZE, labelSelector, fieldSelector, continue: next };
      const page: KubeList<T> = await this.json<KubeList<T>>('GET', path, { query, signal });
      yield page;
      next = page.metadata.continue || undefined;
    } while (next !== undefined);
  }

  async list<T extends KubeObject>(resource: Resource, settings?: ListSettings): Promise<T[]> {
    const items: T[] = [];
    for await (const page of this.pages<T>(resource, settings)) items.push(...page.items);
    return items;
  }

  create<T extends KubeObject>(
    resource: Resource,
    object: KubeObject,
    settings: { dryRun?: boolean } = {},
  ): Promise<T> {
    const path = pathOf(resource, { namespace: object.metadata.namespace });
    const query: Query = { dryRun: settings.dryRun ? 'All' : undefined };
    const body = { apiVersion: resource.apiVersion, kind: resource.kind, ...object };
    return this.again(() => this.json<T>('POST', path, { body, query }));
  }

  /** A merge patch: it takes no notice of what others wrote meanwhile, so it may be sent again. */
  patch<T extends KubeObject>(resource: Resource, path: ObjectPath, body: unknown): Promise<T> {
    const contentType = 'application/merge-patch+json';
    return this.again(() => this.json<T>('PATCH', pathOf(resource, path), { body, contentType }));
  }

  /** @returns false when it was gone already, or another object stands there by now */
  async delete(
    resource: Resource,
    path: ObjectPath,
    { uid, gracePeriodSeconds }: DeleteSettings = {},
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
      await this.again(() => this.json('DELETE', pathOf(resource, path), { body }));
      return true;
    } catch (error) {
      if (KubeApiError.has(error, 404)) return false;
      if (isAnotherObject(error)) return false;
      throw error;
    }
  }

  /** An action endpoint: success is any 2xx, with or without a body. */
  async act(path: string, body: unknown = {}): Promise<void> {
    await this.again(() => this.text('PUT', path, { body }));
  }

  private async again<T>(write: () => Promise<T>): Promise<T> {
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

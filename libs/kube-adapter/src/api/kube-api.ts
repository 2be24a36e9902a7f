import { randomBytes } from 'node:crypto';
import type { Clock } from '@headgate/domain-contracts';
import { ANNOTATION } from '../labels.js';
import { createOnce, identified } from './create-once.js';
import { isNotFound, isPreconditionFailed, isWriteConflict, KubeApiError, mayBeDone } from './kube-api-error.js';
import { KubeConnection, type ApiRequestOptions, type Outage, type Query, type WriteFence } from './kube-connection.js';
import type { KubeCredentials } from './kube-credentials.js';
import type { KubeList, KubeObject } from './kube-object.js';
import { isPatched, type JsonPatchOperation } from './json-patch.js';
import { repeatUnlessDone } from './repeat-unless-done.js';
import { ACCESS_REVIEWS, pathOf, UPLOAD_TOKENS, type ObjectPath, type Resource } from './resources.js';

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly signal?: AbortSignal;
}

export interface Page<T extends KubeObject> extends KubeList<T> {
  /** Whether it has all objects, and those of the pages before it may no longer exist. */
  readonly isWhole: boolean;
}

export interface DeleteOptions {
  /** Deletes only the object with this uid, never a later one of the same name. */
  readonly uid?: string;
  /** Deletes only this version of the object. */
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
}

export interface KubeApiOptions {
  readonly outage?: Outage;
  /** By default, this process may always write. */
  readonly mayWrite?: WriteFence;
  readonly random?: () => number;
}

/** Kinds whose objects exist in the answer only. */
const UNSTORED: readonly Resource[] = [ACCESS_REVIEWS, UPLOAD_TOKENS];
const PAGE_SIZE = 250;
const WRITE_ID_BYTES = 8;
/** Retries of a write that met a conflict, and the first pause between them; the pause doubles. */
const CONFLICT_RETRIES = 6;
const CONFLICT_PAUSE_MS = 25;

/**
 * Reads, writes and lists objects of one API server, and calls their action endpoints. Every failure is a DomainError.
 */
export class KubeApi extends KubeConnection {
  private readonly random: () => number;

  constructor(
    context: string,
    credentials: KubeCredentials,
    clock: Clock,
    { outage, mayWrite, random = Math.random }: KubeApiOptions = {},
  ) {
    super(context, credentials, clock, outage, mayWrite);
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

  /**
   * A collection page by page; all pages are of one snapshot. When the server no longer has that snapshot, the last
   * page is the whole collection, and `isWhole`: the pages before it are void.
   */
  async *pages<T extends KubeObject>(resource: Resource, options: ListOptions = {}): AsyncGenerator<Page<T>> {
    const { namespace, labelSelector, fieldSelector, signal } = options;
    const path = pathOf(resource, { namespace });
    let next: string | undefined;
    do {
      const query: Query = { limit: PAGE_SIZE, labelSelector, fieldSelector, continue: next };
      const page: Page<T> | undefined = await this.page<T>(path, { query, signal });
      if (!page) {
        // Without a limit there is no further page that could expire.
        const all = await this.json<KubeList<T>>('GET', path, { query: { labelSelector, fieldSelector }, signal });
        return yield { ...all, isWhole: true };
      }
      yield page;
      next = page.metadata.continue || undefined;
    } while (next !== undefined);
  }

  /** @returns undefined when the snapshot of a further page has expired */
  private async page<T extends KubeObject>(path: string, options: ApiRequestOptions): Promise<Page<T> | undefined> {
    try {
      return { ...(await this.json<KubeList<T>>('GET', path, options)), isWhole: false };
    } catch (error) {
      if (options.query?.['continue'] !== undefined && KubeApiError.has(error, 410)) return undefined;
      throw error;
    }
  }

  async list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<T[]> {
    const items: T[] = [];
    for await (const page of this.pages<T>(resource, options)) {
      if (page.isWhole) items.length = 0;
      items.push(...page.items);
    }
    return items;
  }

  /**
   * Creates an object once, also when the answer is lost. Objects that are not stored and dry runs are simply sent
   * again.
   */
  create<T extends KubeObject>(
    resource: Resource,
    given: KubeObject,
    { dryRun = false }: { readonly dryRun?: boolean } = {},
  ): Promise<T> {
    const { namespace } = given.metadata;
    const path = pathOf(resource, { namespace });
    const query: Query = { dryRun: dryRun ? 'All' : undefined };
    const storesNothing = dryRun || UNSTORED.includes(resource);
    const object = storesNothing ? given : identified(given);
    const body = { apiVersion: resource.apiVersion, kind: resource.kind, ...object };
    const send = (onRepeat?: (error: unknown) => void): Promise<T> =>
      this.retryOnConflict(() => this.json<T>('POST', path, { body, query, storesNothing, onRepeat }));
    if (storesNothing) return send();
    const find = (): Promise<T | undefined> => this.findNamed<T>(resource, object.metadata);
    return createOnce({ clock: this.clock, send, find, object });
  }

  /** Most objects of a namespace may be listed by this service, and not all may be read by their name. */
  private async findNamed<T extends KubeObject>(
    resource: Resource,
    { namespace, name = '' }: ObjectPath,
  ): Promise<T | undefined> {
    if (!resource.namespaced) return this.find<T>(resource, { name });
    const [found] = await this.list<T>(resource, { namespace, fieldSelector: `metadata.name=${name}` });
    return found;
  }

  /** A merge patch. It does not depend on the version that was read, so it is safe to send again. */
  patch<T extends KubeObject>(resource: Resource, path: ObjectPath, body: unknown): Promise<T> {
    const contentType = 'application/merge-patch+json';
    return this.retryOnConflict(() => this.json<T>('PATCH', pathOf(resource, path), { body, contentType }));
  }

  /**
   * Replaces an object. With `metadata.resourceVersion`, only that version of it: when the answer is lost, the object
   * shows whether this call has written it; otherwise it is sent again. Without a version, it is sent once, and a lost
   * answer leaves the outcome unknown.
   * @throws DomainError CONFLICT when the object has another version
   */
  async replace<T extends KubeObject>(resource: Resource, object: T): Promise<T> {
    const { namespace, name, resourceVersion, annotations } = object.metadata;
    const path = { namespace, name };
    const writeId = randomBytes(WRITE_ID_BYTES).toString('hex');
    const metadata = { ...object.metadata, annotations: { ...annotations, [ANNOTATION.writeId]: writeId } };
    const body = { ...object, metadata, apiVersion: resource.apiVersion, kind: resource.kind };
    const send = (): Promise<T> => this.json<T>('PUT', pathOf(resource, path), { body, isSentOnce: true });
    if (resourceVersion === undefined) return send();
    let written: T | undefined;
    const isDone = async (): Promise<boolean> => {
      written = await this.find<T>(resource, path);
      return written?.metadata.annotations?.[ANNOTATION.writeId] === writeId;
    };
    return (await repeatUnlessDone(this.clock, send, isDone)) ?? (written as T);
  }

  /**
   * A JSON patch: all of its operations, or none if one of its tests fails. When the answer is lost, the object shows
   * whether the patch was applied; otherwise it is sent again, and its tests protect the changes of others.
   * https://www.rfc-editor.org/rfc/rfc6902
   */
  async jsonPatch<T extends KubeObject>(
    resource: Resource,
    path: ObjectPath,
    body: readonly JsonPatchOperation[],
    { dryRun = false }: { readonly dryRun?: boolean } = {},
  ): Promise<T> {
    const query: Query = { dryRun: dryRun ? 'All' : undefined };
    const contentType = 'application/json-patch+json';
    const send = (): Promise<T> =>
      this.json<T>('PATCH', pathOf(resource, path), { body, contentType, query, isSentOnce: !dryRun });
    if (dryRun) return send();
    let patched: T | undefined;
    const isDone = async (): Promise<boolean> => {
      patched = await this.find<T>(resource, path);
      return patched !== undefined && isPatched(patched, body);
    };
    return (await repeatUnlessDone(this.clock, send, isDone)) ?? (patched as T);
  }

  /** @returns false when the object was already gone, or another one has its name by now */
  async delete(
    resource: Resource,
    path: ObjectPath,
    { uid, resourceVersion, gracePeriodSeconds }: DeleteOptions = {},
  ): Promise<boolean> {
    const isAny = uid === undefined && resourceVersion === undefined;
    const preconditions = isAny ? undefined : { uid, resourceVersion };
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      gracePeriodSeconds,
      preconditions,
    };
    let isRepeated = false;
    const onRepeat = (error: unknown): void => void (isRepeated ||= mayBeDone(error));
    try {
      await this.retryOnConflict(() => this.json('DELETE', pathOf(resource, path), { body, onRepeat }));
      return true;
    } catch (error) {
      // The answer to an earlier attempt may have been lost.
      if (KubeApiError.has(error, 404) || isPreconditionFailed(error)) return isRepeated;
      throw error;
    }
  }

  /**
   * Calls an action endpoint. Any 2xx is a success, with or without a body.
   * @param isDone whether the action has begun; asked when the answer is lost, before the action is sent again. Without
   *   it, the outcome stays unknown.
   */
  async invoke(path: string, body: unknown = {}, isDone?: () => Promise<boolean>): Promise<void> {
    const send = (): Promise<string> => this.retryOnConflict(() => this.text('PUT', path, { body }));
    await (isDone ? repeatUnlessDone(this.clock, send, isDone) : send());
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

import { badRequest, conflict, forbidden, invalidOptions, methodNotAllowed, notFound } from '../api-error.js';
import type { SandboxClock } from '../clock.js';
import { keyOf, type KubeObject } from '../kube-object.js';
import type { ObjectStore } from '../object-store.js';
import type { ServedResource } from '../resource-registry.js';
import { sendJson } from './responses.js';
import { checkUnknownFields, readIncoming } from './incoming-object.js';
import { selects, parseSelection } from './list-options.js';
import { APPLY_PATCH } from '../patch/patch-types.js';
import { applyObject, checkPatchType, patchObject } from './object-patcher.js';
import type { ObjectReader } from './object-reader.js';
import { decodeBody, mediaTypeOf, readBody } from './request-body.js';
import type { RequestContext } from './request-context.js';
import { parseDeleteOptions, parseWriteOptions } from './write-options.js';
import { separateFields } from './separate-fields.js';
import { revisionRequired, type Write, type WritePipeline } from './write-pipeline.js';

interface PendingUpdate {
  readonly served: ServedResource;
  readonly draft: KubeObject;
  readonly live: KubeObject;
  /** The field manager; undefined when the draft already records it. */
  readonly manager?: string;
  readonly subresource?: string;
}

/** Handles create, update, patch and delete requests for objects and their `status`. */
export class ObjectWriter {
  constructor(
    private readonly store: ObjectStore,
    private readonly pipeline: WritePipeline,
    private readonly reader: ObjectReader,
    private readonly clock: SandboxClock,
  ) {}

  async create(context: RequestContext, served: ServedResource): Promise<void> {
    const body = decodeBody(context.request, await readBody(context.request), served.definition.builtIn === true);
    const options = parseWriteOptions(context);
    const { draft, unknown } = readIncoming(body, served, (kind) => this.store.isBuiltIn(kind));
    context.warnings.push(...checkUnknownFields(unknown, options.fieldValidation, served));
    const { handleCreate, namespaced } = served.definition;
    if (namespaced) placeIn(draft, context.info.namespace);
    if (handleCreate) return sendJson(context, 201, handleCreate(draft, context.user));
    this.checkNamespace(served, draft);
    const created = this.pipeline.create(draft, { ...this.write(context, served), manager: options.fieldManager });
    this.reader.sendObject(context, served, 201, created);
  }

  async update(context: RequestContext, served: ServedResource, subresource?: string): Promise<void> {
    const body = decodeBody(context.request, await readBody(context.request), served.definition.builtIn === true);
    const options = parseWriteOptions(context);
    const { draft, unknown } = readIncoming(body, served, (kind) => this.store.isBuiltIn(kind));
    context.warnings.push(...checkUnknownFields(unknown, options.fieldValidation, served));
    const { namespace, name = '' } = context.info;
    if (draft.metadata.name !== name)
      throw badRequest(
        `the name of the object (${draft.metadata.name || '""'}) does not match the name on the URL (${name})`,
      );
    if (served.definition.namespaced) placeIn(draft, namespace);
    const live = this.live(served, { namespace, name });
    const { kind, group, builtIn } = served.definition;
    if (!builtIn && !draft.metadata.resourceVersion) throw revisionRequired(kind, group, name);
    this.commit(context, { served, draft, live, manager: options.fieldManager, subresource });
  }

  async patch(context: RequestContext, served: ServedResource, subresource?: string): Promise<void> {
    const type = mediaTypeOf(context.request);
    checkPatchType(type, served);
    const body = await readBody(context.request);
    if (type === APPLY_PATCH) return this.apply(context, served, body, subresource);
    const options = parseWriteOptions(context);
    const { namespace, name = '' } = context.info;
    const live = this.live(served, { namespace, name });
    const { draft, warnings } = patchObject(live, type, body, served, options);
    context.warnings.push(...warnings);
    if (draft.metadata.name !== name || draft.metadata.namespace !== live.metadata.namespace) {
      throw badRequest(`the name of the object (${draft.metadata.name}) does not match the name on the URL (${name})`);
    }
    this.commit(context, { served, draft, live, manager: options.fieldManager, subresource });
  }

  async delete(context: RequestContext, served: ServedResource): Promise<void> {
    const options = await this.deleteOptions(context);
    const { namespace, name = '' } = context.info;
    const live = this.live(served, { namespace, name });
    this.pipeline.admitDelete(live, { ...this.write(context, served), dryRun: options.dryRun });
    const { object, gone } = this.store.delete(served.name, { namespace, name }, options);
    const code = options.legacyOrphan ? 202 : 200;
    // Some core resources return the deleted object, all others a Status.
    if (!gone || returnsObject(served)) return this.reader.sendObject(context, served, code, object);
    const { group, plural } = served.definition;
    const details = { name, ...(group && { group }), kind: plural, uid: object.metadata.uid };
    sendJson(context, code, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
  }

  async deleteCollection(context: RequestContext, served: ServedResource): Promise<void> {
    const options = await this.deleteOptions(context);
    const selection = parseSelection(context.info.query, context.info.namespace, served.definition);
    const chosen = this.store.list(served.name, {
      namespace: selection.namespace,
      where: (object) => selects(selection, object),
    });
    for (const object of chosen) {
      this.pipeline.admitDelete(object, { ...this.write(context, served), dryRun: options.dryRun });
      if (this.store.get(served.name, keyOf(object))) this.store.delete(served.name, keyOf(object), options);
    }
    const { kind, listKind = `${kind}List` } = served.definition;
    const [first] = chosen;
    sendJson(context, 200, {
      kind: listKind,
      apiVersion:
        first?.apiVersion ?? `${served.definition.group ? `${served.definition.group}/` : ''}${served.version.name}`,
      metadata: { resourceVersion: String(this.store.revision) },
      items: chosen,
    });
  }

  private apply(context: RequestContext, served: ServedResource, body: Buffer, subresource?: string): void {
    const options = parseWriteOptions(context);
    if (!context.info.query.get('fieldManager')) {
      throw invalidOptions('PatchOptions', [
        { reason: 'FieldValueRequired', message: 'Required value: is required for apply patch', field: 'fieldManager' },
      ]);
    }
    const { namespace, name = '' } = context.info;
    const key = { ...(served.definition.namespaced && { namespace }), name };
    const live = this.store.get(served.name, key);
    if (!live && subresource) throw notFound(this.store.subject(served.name, name));
    const hasStatus = served.definition.statusSubresource === true;
    const skip = subresource ? ['spec'] : hasStatus ? ['status'] : [];
    const draft = applyObject(live, body, served, this.clock, {
      ...options,
      ...(subresource && { subresource }),
      skip,
      key,
    });
    if (live) return this.commit(context, { served, draft, live, subresource });
    this.checkNamespace(served, draft);
    this.reader.sendObject(context, served, 201, this.pipeline.create(draft, this.write(context, served)));
  }

  private commit(context: RequestContext, { served, draft, live, manager, subresource }: PendingUpdate): void {
    const { resourceVersion, uid } = draft.metadata;
    const subject = this.store.subject(served.name, live.metadata.name);
    if (resourceVersion && resourceVersion !== live.metadata.resourceVersion) throw conflict(subject);
    if (uid && uid !== live.metadata.uid) {
      throw conflict(
        subject,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`,
      );
    }
    const next = separateFields(draft, live, served.definition, subresource);
    const write = {
      ...this.write(context, served),
      ...(subresource && { subresource }),
      ...(manager !== undefined && { manager }),
    };
    this.reader.sendObject(context, served, 200, this.pipeline.update(next, live, write));
  }

  private write(context: RequestContext, served: ServedResource): Write {
    const warn = (text: string): void => void context.warnings.push(text);
    return { served, user: context.user, dryRun: parseWriteOptions(context).dryRun, warn };
  }

  private live(served: ServedResource, key: { namespace?: string; name: string }): KubeObject {
    if (served.definition.provider) throw methodNotAllowed();
    return this.reader.find(served, key);
  }

  private async deleteOptions(context: RequestContext) {
    const body = await readBody(context.request);
    return parseDeleteOptions(context, body.length > 0 ? decodeBody(context.request, body) : undefined);
  }

  /** @throws ApiError 404 for an absent namespace, 403 for one that is terminating */
  private checkNamespace({ name: resource, definition }: ServedResource, { metadata }: KubeObject): void {
    if (!definition.namespaced) return;
    const name = metadata.namespace ?? '';
    const namespace = this.store.get('namespaces', { name });
    if (!namespace) throw notFound({ group: '', resource: 'namespaces', name });
    if (!namespace.metadata.deletionTimestamp) return;
    const message = `namespace ${name} is being terminated`;
    throw forbidden(
      this.store.subject(resource, metadata.name),
      `unable to create new content in namespace ${name} because it is being terminated`,
      [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }],
    );
  }
}

/** @throws ApiError 400 when the object's namespace differs from the path's */
function placeIn({ metadata }: KubeObject, namespace: string | undefined): void {
  if (namespace === undefined) throw methodNotAllowed();
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  metadata.namespace = namespace;
}

const OBJECT_ANSWERS = new Set([
  'pods',
  'namespaces',
  'persistentvolumeclaims',
  'persistentvolumes',
  'serviceaccounts',
  'services',
  'storageclasses.storage.k8s.io',
]);

function returnsObject({ name }: ServedResource): boolean {
  return OBJECT_ANSWERS.has(name);
}

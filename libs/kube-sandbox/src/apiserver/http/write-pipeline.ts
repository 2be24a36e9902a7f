import type { AdmissionChain, AdmissionOperation, AdmissionRequest, UserInfo } from '../admission.js';
import { badRequest, fieldForbidden, fieldInvalid, invalid, type StatusCause } from '../api-error.js';
import { recordUpdate, type Manager } from '../apply/managed-fields.js';
import type { SandboxClock } from '../clock.js';
import { deepCopy, deepEqual, deepFreeze } from '../deep-copy.js';
import { apiVersionOf, keyOf, type KubeObject } from '../kube-object.js';
import type { ObjectStore } from '../object-store.js';
import type { ServedResource } from '../resource-registry.js';
import { applyDefaults } from '../schema/apply-defaults.js';
import { dropEmptyMeta } from '../schema/drop-empty-meta.js';
import { rootSchema } from '../schema/object-meta-schema.js';
import { validateSchema } from '../schema/validate-schema.js';
import { validateMeta } from '../schema/validate-meta.js';
import { generateName } from '../store/new-object.js';
import { goDecodeError } from './go-decode-error.js';

/** The attributes of one write. */
export interface Write {
  served: ServedResource;
  user: UserInfo;
  dryRun: boolean;
  /** Receives the warnings of admission hooks. */
  warn?: (text: string) => void;
  subresource?: string;
  /** The field manager; undefined when the draft already contains its managedFields (server-side apply). */
  manager?: string;
}

/** Attempts to generate an unused name. */
const NAME_ATTEMPTS = 8;

/** The steps of every write: defaults, mutating admission, schema and rules, validating admission, store. */
export class WritePipeline {
  constructor(
    private readonly store: ObjectStore,
    private readonly admission: AdmissionChain,
    private readonly clock: SandboxClock,
  ) {}

  /** @throws ApiError 4xx */
  create(draft: KubeObject, write: Write): KubeObject {
    const { definition, name: resource } = write.served;
    const { metadata } = draft;
    if (metadata.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created');
    for (const field of [
      'uid',
      'creationTimestamp',
      'generation',
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
    ] as const)
      delete metadata[field];
    if (write.manager !== undefined) delete metadata.managedFields;
    if (!metadata.name && metadata.generateName)
      metadata.name = this.freeName(resource, metadata.generateName, metadata.namespace);
    if (definition.statusSubresource) delete (draft as { status?: unknown }).status;
    const completed = this.admit('CREATE', draft, undefined, write);
    return this.store.create(resource, completed, { dryRun: write.dryRun });
  }

  /** @throws ApiError 4xx */
  update(draft: KubeObject, previous: KubeObject, write: Write): KubeObject {
    keepImmutable(draft, previous);
    dropEmptyMeta(draft.metadata);
    if (deepEqual(draft, previous)) return previous;
    const completed = this.admit('UPDATE', draft, previous, write);
    return this.store.update(write.served.name, completed, { dryRun: write.dryRun });
  }

  /** Runs the admission hooks for a deletion. @throws ApiError 4xx */
  admitDelete(object: KubeObject, write: Write): void {
    this.admission.validate({ ...this.requestFor('DELETE', object, write), oldObject: object });
  }

  private admit(
    operation: AdmissionOperation,
    draft: KubeObject,
    previous: KubeObject | undefined,
    write: Write,
  ): KubeObject {
    const { definition } = write.served;
    const schema = rootSchema(write.served.version.schema);
    this.checkDecodable(draft, write.served);
    applyDefaults(draft, schema);
    const request: AdmissionRequest = {
      ...this.requestFor(operation, draft, write),
      ...(previous && { oldObject: previous }),
    };
    this.admission.mutate(request);
    const object = request.object;
    dropEmptyMeta(object.metadata);
    if (previous) {
      keepImmutable(object, previous);
      definition.strategy?.prepareForUpdate?.(object, previous);
    } else definition.strategy?.prepareForCreate?.(object);
    applyDefaults(object, schema);
    this.check(object, previous, write);
    this.recordManager(object, previous, write);
    this.admission.validate({ ...request, object: deepFreeze(object) });
    return object;
  }

  private check(object: KubeObject, previous: KubeObject | undefined, { served }: Write): void {
    const { definition } = served;
    const causes = [
      ...validateMeta(object.metadata, definition.nameRule ?? 'subdomain'),
      ...newFinalizers(object, previous),
      ...this.checkSchema(object, served),
    ];
    causes.push(
      ...(causes.length === 0
        ? (definition.strategy?.validate?.(object, previous && defaulted(previous, served)) ?? [])
        : []),
    );
    if (causes.length > 0) throw invalid(definition.kind, definition.group, object.metadata.name, causes);
  }

  /** @throws ApiError 400 for values that a Go type can't hold */
  private checkDecodable(object: KubeObject, served: ServedResource): void {
    const { definition, version } = served;
    const error = goDecodeError(object, served);
    if (!error) return;
    throw badRequest(
      `${definition.kind} in version "${version.name}" cannot be handled as a ${definition.kind}: ${error}`,
    );
  }

  private checkSchema(object: KubeObject, { version }: ServedResource): StatusCause[] {
    // The storage version and the served version share a schema, unless the version has conversions.
    return version.schema && !version.toStorage ? validateSchema(object, rootSchema(version.schema)) : [];
  }

  private recordManager(
    object: KubeObject,
    previous: KubeObject | undefined,
    { served, manager, subresource }: Write,
  ): void {
    if (manager === undefined) return;
    const by: Manager = {
      name: manager,
      operation: 'Update',
      apiVersion: apiVersionOf(served.definition.group, served.version.name),
      ...(subresource && { subresource }),
    };
    recordUpdate(object, previous, rootSchema(served.version.schema), by, this.clock.timestamp());
  }

  private requestFor(
    operation: AdmissionOperation,
    object: KubeObject,
    { served, subresource, user, dryRun, warn }: Write,
  ): AdmissionRequest {
    return {
      operation,
      resource: served.name,
      ...(subresource && { subresource }),
      ...keyOf(object),
      object,
      user,
      dryRun,
      ...(warn && { warn }),
    };
  }

  private freeName(resource: string, base: string, namespace: string | undefined): string {
    let name = generateName(base);
    for (let attempt = 1; attempt < NAME_ATTEMPTS && this.store.get(resource, { namespace, name }); attempt++)
      name = generateName(base);
    return name;
  }
}

/**
 * Applies defaults to an object that a controller stored without them, so that both sides of a comparison have them.
 */
function defaulted(object: KubeObject, { version }: ServedResource): KubeObject {
  const copy = deepCopy(object);
  applyDefaults(copy, rootSchema(version.schema));
  return copy;
}

function keepImmutable(draft: KubeObject, previous: KubeObject): void {
  const { uid, creationTimestamp, generation, deletionTimestamp, deletionGracePeriodSeconds } = previous.metadata;
  Object.assign(draft.metadata, { uid, creationTimestamp, generation });
  if (deletionTimestamp) Object.assign(draft.metadata, { deletionTimestamp, deletionGracePeriodSeconds });
  else {
    delete draft.metadata.deletionTimestamp;
    delete draft.metadata.deletionGracePeriodSeconds;
  }
  draft.metadata.resourceVersion ||= previous.metadata.resourceVersion;
}

function newFinalizers({ metadata }: KubeObject, previous: KubeObject | undefined): StatusCause[] {
  if (!previous?.metadata.deletionTimestamp) return [];
  const before = previous.metadata.finalizers ?? [];
  const added = (metadata.finalizers ?? []).filter((finalizer) => !before.includes(finalizer));
  if (added.length === 0) return [];
  const list = `[]string{${added.map((each) => JSON.stringify(each)).join(', ')}}`;
  return [
    fieldForbidden(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
    ),
  ];
}

/** The error for a PUT without a resourceVersion, for kinds that require one. */
export function revisionRequired(kind: string, group: string, name: string) {
  return invalid(kind, group, name, [fieldInvalid('metadata.resourceVersion', 0, 'must be specified for an update')]);
}

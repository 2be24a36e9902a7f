import type { UserInfo } from './admission.js';
import type { StatusCause } from './api-error.js';
import type { KubeObject, ObjectKey } from './kube-object.js';
import type { StructuralSchema } from './schema/structural-schema.js';
import type { NameRule } from './schema/validate-meta.js';

/** One column of `kubectl get`, from a JSON path or, for built-in kinds, from a function. */
export interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format?: string;
  description?: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  priority?: number;
  /** Path below the object, such as `.status.printableStatus`. */
  jsonPath?: string;
  /** Computes the cell; `nowMs` is the current time, for ages. */
  cell?: (object: KubeObject, nowMs: number) => string | number | boolean | null;
}

/**
 * One served version of a resource. Objects are stored in one version; the others differ in `apiVersion` and by their
 * conversions.
 */
export interface ResourceVersion {
  name: string;
  served: boolean;
  /** Sent as a `Warning: 299` header with every response. */
  deprecationWarning?: string;
  /** Default: every field is kept. */
  schema?: StructuralSchema;
  columns?: PrinterColumn[];
  /** Storage version → this version, on a copy. Default: only `apiVersion` changes. */
  fromStorage?: (object: KubeObject) => KubeObject;
  /** This version → storage version, on a copy. */
  toStorage?: (object: KubeObject) => KubeObject;
}

/** The JSON paths of the scale subresource, such as `.spec.replicas`. */
export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

/** Serves reads of a resource that is not stored, such as metrics. */
export interface ReadOnlyProvider {
  list(namespace: string | undefined): KubeObject[];
  get(key: ObjectKey): KubeObject | undefined;
}

/** The rules of a resource beyond its schema. All hooks work on the storage version. */
export interface ResourceStrategy {
  /** Completes the draft of a new object before validation: server-side defaults, allocated fields. */
  prepareForCreate?: (draft: KubeObject) => void;
  /** Completes the draft of a changed object. */
  prepareForUpdate?: (draft: KubeObject, previous: KubeObject) => void;
  /** The invalid fields of a new (`previous` is undefined) or changed object, for a 422. */
  validate?: (object: KubeObject, previous: KubeObject | undefined) => StatusCause[];
  /** Seconds between the DELETE and the removal of the object; default 0. `requested` is the client's value. */
  gracePeriodSeconds?: (object: KubeObject, requested: number | undefined) => number;
  /** Whether anything besides finalizers and the grace period still blocks the removal of an object. */
  holdsDeletion?: (object: KubeObject) => boolean;
}

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export const ALL_VERBS: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** The definition of one resource. */
export interface ResourceDefinition {
  /** Empty for the core group. */
  group: string;
  plural: string;
  singular: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
  namespaced: boolean;
  /** Preferred version first. */
  versions: ResourceVersion[];
  /** The version in which objects are stored; default the first. */
  storageVersion?: string;
  /** Default: all. */
  verbs?: readonly Verb[];
  /** Whether `/status` exists; `status` can then be written only there. */
  statusSubresource?: boolean;
  scale?: ScalePaths;
  /** Other subresources to list in discovery, such as `log`; handlers are registered with `SubresourceRegistry`. */
  subresources?: { name: string; kind?: string; group?: string; version?: string; verbs: string[] }[];
  /** Whether objects count the changes of their desired state in `metadata.generation`; default true. */
  hasGeneration?: boolean;
  /** Field labels that a field selector may use, in addition to `metadata.name` and `metadata.namespace`. */
  selectableFields?: Record<string, (object: KubeObject) => string>;
  /** The format of names; default `subdomain`. */
  nameRule?: NameRule;
  strategy?: ResourceStrategy;
  provider?: ReadOnlyProvider;
  /** Handles a POST of a resource that is not stored, such as an access review. */
  handleCreate?: (object: KubeObject, user: UserInfo) => KubeObject;
  /** The stored resource that this one presents in another form (events.k8s.io presents `events`). */
  aliasOf?: string;
  /**
   * Built into the server: it supports strategic merge patch, PUT needs no resourceVersion, list items have no kind.
   */
  builtIn?: boolean;
}

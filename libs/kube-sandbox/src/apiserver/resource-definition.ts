import type { UserInfo } from './admission.js';
import type { StatusCause } from './api-error.js';
import type { KubeObject, ObjectKey } from './kube-object.js';
import type { StructuralSchema } from './schema/structural-schema.js';
import type { NameRule } from './schema/validate-meta.js';

/** One column of `kubectl get`. Its cell comes from a JSON path or, for built-in kinds, from a function. */
export interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format?: string;
  description?: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  priority?: number;
  /** Path below the object, such as `.status.printableStatus`. */
  jsonPath?: string;
  /** Computes the cell; `nowMs` is the clock's time, for ages. */
  cell?: (object: KubeObject, nowMs: number) => string | number | boolean | null;
}

/** One served version of a resource. Objects are stored in one version; the others differ by `apiVersion` or by the conversions given. */
export interface ResourceVersion {
  name: string;
  served: boolean;
  /** Sent as a `Warning: 299` header with every answer. */
  deprecationWarning?: string;
  /** Absent: every field is kept. */
  schema?: StructuralSchema;
  columns?: PrinterColumn[];
  /** Storage version → this version, on a copy. Absent: only `apiVersion` changes. */
  fromStorage?: (object: KubeObject) => KubeObject;
  /** This version → storage version, on a copy. */
  toStorage?: (object: KubeObject) => KubeObject;
}

/** Where the scale subresource finds its numbers, as JSON paths such as `.spec.replicas`. */
export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

/** Answers reads of a resource that nothing stores, such as metrics. */
export interface ReadOnlyProvider {
  list(namespace: string | undefined): KubeObject[];
  get(key: ObjectKey): KubeObject | undefined;
}

/** What a resource decides beyond its schema. All hooks work on the storage version. */
export interface ResourceStrategy {
  /** Completes a new object, on a draft, before validation: server-side defaults, allocated fields. */
  prepareForCreate?: (draft: KubeObject) => void;
  /** Completes a changed object, on a draft. */
  prepareForUpdate?: (draft: KubeObject, previous: KubeObject) => void;
  /** Bad fields of a new (`previous` undefined) or changed object. Answered as 422. */
  validate?: (object: KubeObject, previous: KubeObject | undefined) => StatusCause[];
  /** Seconds between the DELETE and the end of the object; absent or 0: gone at once. `requested` is the client's wish. */
  gracePeriodSeconds?: (object: KubeObject, requested: number | undefined) => number;
  /** Whether something other than finalizers and a grace period still holds an object that is being deleted. */
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

/** Everything the server knows about one resource. */
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
  /** Version in which the store holds the objects; default the first. */
  storageVersion?: string;
  /** Default: all. */
  verbs?: readonly Verb[];
  /** Whether `/status` exists; then `status` is written there and nowhere else. */
  statusSubresource?: boolean;
  scale?: ScalePaths;
  /** Further subresources to name in discovery, such as `log`; handlers are registered with `SubresourceRegistry`. */
  subresources?: { name: string; kind?: string; group?: string; version?: string; verbs: string[] }[];
  /** Field labels that a field selector may use, beside `metadata.name` and `metadata.namespace`. */
  selectableFields?: Record<string, (object: KubeObject) => string>;
  /** How names are checked; default `subdomain`. */
  nameRule?: NameRule;
  strategy?: ResourceStrategy;
  provider?: ReadOnlyProvider;
  /** Answers a POST of a resource that nothing stores, such as an access review. */
  answerCreate?: (object: KubeObject, user: UserInfo) => KubeObject;
  /** The store's name of another resource whose objects this one shows in its own words (events.k8s.io shows `events`). */
  aliasOf?: string;
  /** Compiled into the server: strategic merge patch works, PUT needs no resourceVersion, list items carry no kind. */
  builtIn?: boolean;
}

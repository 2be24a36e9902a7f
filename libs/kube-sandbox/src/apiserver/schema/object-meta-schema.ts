import {
  atomic,
  boolean,
  int64,
  listBy,
  listOf,
  mapOf,
  object,
  anything,
  setOf,
  string,
  time,
} from './schema-builders.js';
import type { StructuralSchema } from './structural-schema.js';

/** The metadata of all kinds. */
export const objectMetaSchema: StructuralSchema = object(
  {
    name: string('The name, unique within the namespace; immutable.'),
    generateName: string('A prefix from which the server generates the name when none is given.'),
    namespace: string('The namespace; empty for cluster-scoped kinds.'),
    uid: string('The unique ID of the object, set by the server.'),
    resourceVersion: string('The opaque revision of the last change, set by the server.'),
    generation: int64('The sequence number of the desired state, set by the server.'),
    creationTimestamp: time('The creation time, set by the server.'),
    deletionTimestamp: time('The deletion time, set by the server after a DELETE.'),
    deletionGracePeriodSeconds: int64('Seconds for a graceful termination, set by the server after a DELETE.'),
    labels: mapOf(string(), 'Keys and values for selectors.'),
    annotations: mapOf(string(), 'Keys and values of tools; not selectable.'),
    finalizers: setOf(string(), 'Entries that must be removed before the object is.'),
    ownerReferences: listBy(
      ['uid'],
      atomic(
        object(
          {
            apiVersion: string('Group and version of the owner.'),
            kind: string('Kind of the owner.'),
            name: string('Name of the owner.'),
            uid: string('The unique ID of the owner.'),
            controller: boolean('Whether the owner manages this object.'),
            blockOwnerDeletion: boolean('Whether this object blocks a foreground deletion of the owner.'),
          },
          ['apiVersion', 'kind', 'name', 'uid'],
        ),
      ),
      'The owners of the object; it is garbage-collected when none of them exists.',
    ),
    managedFields: listOf(
      object({
        manager: string(),
        operation: string(),
        apiVersion: string(),
        time: time(),
        fieldsType: string(),
        fieldsV1: anything(),
        subresource: string(),
      }),
      'The field managers and their fields.',
    ),
    selfLink: string('No longer set.'),
  },
  [],
  'Standard metadata of the object.',
);

const typeMetaFields = {
  apiVersion: string('The group and version of the schema of this object.'),
  kind: string('Kind of the object.'),
};

/** Adds apiVersion, kind and metadata to a schema. */
export function completeRootSchema(schema: StructuralSchema): StructuralSchema {
  return { ...schema, properties: { ...schema.properties, ...typeMetaFields, metadata: objectMetaSchema } };
}

const completed = new WeakMap<StructuralSchema, StructuralSchema>();

/** The same, cached per schema. Without a schema, only metadata is validated. */
export function rootSchema(schema: StructuralSchema | undefined): StructuralSchema {
  const key = schema ?? UNKNOWN;
  let root = completed.get(key);
  if (!root) completed.set(key, (root = completeRootSchema(key)));
  return root;
}

const UNKNOWN: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

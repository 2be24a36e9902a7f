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

/** Metadata of every object, whatever its kind. */
export const objectMetaSchema: StructuralSchema = object(
  {
    name: string('Unique within the namespace; it cannot be changed.'),
    generateName: string('Prefix of a name that the server completes when no name is given.'),
    namespace: string('Space within which the name is unique; cluster-wide kinds have none.'),
    uid: string('Identity of this very object, set by the server.'),
    resourceVersion: string('Revision of the last change, set by the server; opaque to clients.'),
    generation: int64('Counts changes of the desired state, set by the server.'),
    creationTimestamp: time('When the object was created, set by the server.'),
    deletionTimestamp: time('When the object is to be gone, set by the server on deletion.'),
    deletionGracePeriodSeconds: int64('Seconds given to end gracefully, set by the server on deletion.'),
    labels: mapOf(string(), 'Keys and values by which objects are selected.'),
    annotations: mapOf(string(), 'Keys and values that tools keep with the object; not selectable.'),
    finalizers: setOf(string(), 'Who must agree before the object disappears.'),
    ownerReferences: listBy(
      ['uid'],
      atomic(
        object(
          {
            apiVersion: string('Group and version of the owner.'),
            kind: string('Kind of the owner.'),
            name: string('Name of the owner.'),
            uid: string('Identity of the owner.'),
            controller: boolean('Whether the owner manages this object.'),
            blockOwnerDeletion: boolean(
              'Whether the owner waits for this object when it is deleted in the foreground.',
            ),
          },
          ['apiVersion', 'kind', 'name', 'uid'],
        ),
      ),
      'Objects on which this one depends; it is collected when none of them is left.',
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
      'Which manager set which field.',
    ),
    selfLink: string('No longer set.'),
  },
  [],
  'Standard metadata of the object.',
);

const typeMetaFields = {
  apiVersion: string('Group and version of the schema that this object is written in.'),
  kind: string('Kind of the object.'),
};

/** Fills in what a schema need not say of every root: apiVersion, kind and metadata. */
export function completeRootSchema(schema: StructuralSchema): StructuralSchema {
  return { ...schema, properties: { ...schema.properties, ...typeMetaFields, metadata: objectMetaSchema } };
}

const completed = new WeakMap<StructuralSchema, StructuralSchema>();

/** Same, made once for each schema. Without a schema everything but the metadata is kept as it comes. */
export function rootSchema(schema: StructuralSchema | undefined): StructuralSchema {
  const key = schema ?? UNKNOWN;
  let root = completed.get(key);
  if (!root) completed.set(key, (root = completeRootSchema(key)));
  return root;
}

const UNKNOWN: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

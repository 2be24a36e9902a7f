import {
  anything,
  atomic,
  intOrString,
  integer,
  listBy,
  listOf,
  mapOf,
  object,
  oneOf,
  string,
  time,
} from '../schema/schema-builders.js';
import type { StructuralSchema } from '../schema/structural-schema.js';

/** Schemas that several built-in kinds share. */

export const labelSelector: StructuralSchema = atomic(
  object({
    matchLabels: mapOf(string()),
    matchExpressions: listOf(
      object({ key: string(), operator: string(), values: listOf(string()) }, ['key', 'operator']),
    ),
  }),
);

export const conditions: StructuralSchema = listBy(
  ['type'],
  object(
    {
      type: string(),
      status: string(),
      reason: string(),
      message: string(),
      lastTransitionTime: time(),
      lastProbeTime: time(),
      lastHeartbeatTime: time(),
      lastUpdateTime: time(),
      observedGeneration: integer(),
    },
    ['type', 'status'],
  ),
);

export const quantities: StructuralSchema = mapOf(intOrString());

export const resources: StructuralSchema = object({
  requests: quantities,
  limits: quantities,
  claims: listBy(['name'], object({ name: string(), request: string() }, ['name'])),
});

export const nameReference: StructuralSchema = atomic(object({ name: string() }));

export const objectReference: StructuralSchema = atomic(
  object({
    apiVersion: string(),
    kind: string(),
    name: string(),
    namespace: string(),
    uid: string(),
    resourceVersion: string(),
    fieldPath: string(),
  }),
);

export const typedReference: StructuralSchema = atomic(
  object({ apiGroup: string(), kind: string(), name: string(), namespace: string() }, ['kind', 'name']),
);

export const nodeAffinity: StructuralSchema = anything('Terms that nodes must match.');

export const tolerations: StructuralSchema = listOf(
  object({
    key: string(),
    operator: oneOf(['Exists', 'Equal', '']),
    value: string(),
    effect: oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute', '']),
    tolerationSeconds: integer(),
  }),
);

import type { StructuralSchema } from '@headgate/kube-sandbox';

/** Short functions for structural schemas, so that a kind's fields read as a list. */
export const text: StructuralSchema = { type: 'string' };
export const integer: StructuralSchema = { type: 'integer' };
export const int64: StructuralSchema = { type: 'integer', format: 'int64' };
export const flag: StructuralSchema = { type: 'boolean' };
export const time: StructuralSchema = { type: 'string', format: 'date-time' };
export const nullableTime: StructuralSchema = { ...time, nullable: true };

/** Any object, with unknown fields preserved. */
export const anything: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** An object without fields whose presence is the information: `pod: {}`. */
export const marker: StructuralSchema = { type: 'object' };

export const quantity: StructuralSchema = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  'x-kubernetes-int-or-string': true,
};

export const oneOf = (...values: string[]): StructuralSchema => ({ type: 'string', enum: values });

export const list = (items: StructuralSchema, maxItems?: number): StructuralSchema => ({
  type: 'array',
  items,
  ...(maxItems === undefined ? {} : { maxItems }),
});

export const mapOf = (values: StructuralSchema): StructuralSchema => ({ type: 'object', additionalProperties: values });

/** An object with these fields; a name that ends in `!` is required. */
export function object(fields: Record<string, StructuralSchema>): StructuralSchema {
  const entries = Object.entries(fields).map(([name, schema]) => [name.replace('!', ''), schema] as const);
  const required = Object.keys(fields)
    .filter((name) => name.endsWith('!'))
    .map((name) => name.slice(0, -1));
  return { type: 'object', properties: Object.fromEntries(entries), ...(required.length > 0 ? { required } : {}) };
}

/** A whole resource: the three fields that all resources have, and its own. */
export const resource = (fields: Record<string, StructuralSchema>): StructuralSchema =>
  object({ apiVersion: text, kind: text, metadata: { type: 'object' }, ...fields });

export const labels = mapOf(text);
export const quantities = mapOf(quantity);

export const condition = object({
  lastProbeTime: nullableTime,
  lastTransitionTime: nullableTime,
  message: text,
  reason: text,
  'status!': text,
  'type!': text,
});

export const typedReference = object({ apiGroup: text, 'kind!': text, 'name!': text });

export const phaseTimestamps = list(object({ phase: text, phaseTransitionTimestamp: time }));

export const failure = object({ message: text, time });

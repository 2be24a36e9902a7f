import type { JsonValue } from '../kube-object.js';

/** How a list or a map is owned and merged, as CustomResourceDefinitions and the OpenAPI documents write it. */
export type ListType = 'atomic' | 'set' | 'map';

/**
 * A structural schema: the subset of OpenAPI v3 that a CustomResourceDefinition may use. Built-in kinds are described in
 * the same language, plus `x-kubernetes-patch-*`, which only strategic merge patch reads.
 */
export interface StructuralSchema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  description?: string;
  format?: string;
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema | boolean;
  items?: StructuralSchema;
  required?: string[];
  default?: JsonValue;
  enum?: JsonValue[];
  pattern?: string;
  nullable?: boolean;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  allOf?: StructuralSchema[];
  anyOf?: StructuralSchema[];
  oneOf?: StructuralSchema[];
  not?: StructuralSchema;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-list-type'?: ListType;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  /** Rules in CEL are kept for readers of the schema; the sandbox does not evaluate them. */
  'x-kubernetes-validations'?: { rule: string; message?: string }[];
}

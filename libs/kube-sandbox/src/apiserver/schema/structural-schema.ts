import type { JsonValue } from '../kube-object.js';

/** The ownership and merge strategy of a list or a map, as in CustomResourceDefinitions and OpenAPI documents. */
export type ListType = 'atomic' | 'set' | 'map';

/**
 * A structural schema: the subset of OpenAPI v3 that a CustomResourceDefinition may use. The schemas of built-in kinds
 * also have `x-kubernetes-patch-*`, for strategic merge patch.
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
  /** CEL rules: published, but not evaluated. */
  'x-kubernetes-validations'?: { rule: string; message?: string }[];
}

import type { ResourceDefinition } from '../resource-definition.js';
import { anything, object } from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';

/** Kinds that clients look up along the way; the sandbox enforces none of them. */
export const quotas: ResourceDefinition[] = [
  builtIn({
    kind: 'ResourceQuota',
    shortNames: ['quota'],
    statusSubresource: true,
    schema: object({ spec: anything(), status: anything() }, [], 'Bounds of what a namespace may use.'),
  }),
  builtIn({
    kind: 'LimitRange',
    shortNames: ['limits'],
    schema: object({ spec: anything() }, [], 'Bounds of single objects in a namespace.'),
  }),
];

import type { ResourceDefinition } from '../resource-definition.js';
import { anything, object } from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';

/** Kinds that clients may read; the sandbox does not enforce them. */
export const quotas: ResourceDefinition[] = [
  builtIn({
    kind: 'ResourceQuota',
    shortNames: ['quota'],
    statusSubresource: true,
    schema: object({ spec: anything(), status: anything() }, [], 'Limits of the resource consumption in a namespace.'),
  }),
  builtIn({
    kind: 'LimitRange',
    shortNames: ['limits'],
    schema: object({ spec: anything() }, [], 'Limits for single objects in a namespace.'),
  }),
];

import type { PrinterColumn, ResourceDefinition } from '../resource-definition.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { ageColumn } from './column.js';

interface BuiltIn extends Partial<Omit<ResourceDefinition, 'versions' | 'namespaced'>> {
  kind: string;
  /** Default: the kind in lower case with an `s`. */
  plural?: string;
  /** Default v1. */
  version?: string;
  /** Default true. */
  namespaced?: boolean;
  schema: StructuralSchema;
  columns?: PrinterColumn[];
}

/** The built-in kinds whose objects have a `metadata.generation`. */
const KINDS_WITH_GENERATION = new Set([
  'Pod',
  'Deployment',
  'ReplicaSet',
  'DaemonSet',
  'StatefulSet',
  'Job',
  'CronJob',
  'PodDisruptionBudget',
  'Ingress',
  'NetworkPolicy',
  'CustomResourceDefinition',
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
]);

/** A built-in resource with one version. */
export function builtIn({
  kind,
  version = 'v1',
  schema,
  columns = [ageColumn],
  namespaced = true,
  ...rest
}: BuiltIn): ResourceDefinition {
  const singular = kind.toLowerCase();
  return {
    group: '',
    plural: `${singular}s`,
    singular,
    kind,
    namespaced,
    builtIn: true,
    hasGeneration: KINDS_WITH_GENERATION.has(kind),
    ...rest,
    versions: [{ name: version, served: true, schema, columns }],
  };
}

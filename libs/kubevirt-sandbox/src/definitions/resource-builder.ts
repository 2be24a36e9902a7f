import type { PrinterColumn, ResourceDefinition, ResourceVersion } from '@headgate/kube-sandbox';

export const column = (name: string, jsonPath: string, type: PrinterColumn['type'] = 'string'): PrinterColumn => ({
  name,
  type,
  jsonPath,
});

export const AGE = column('Age', '.metadata.creationTimestamp', 'date');

/** The column with the status of one condition, as KubeVirt's kinds show it. */
export const conditionColumn = (name: string, type: string): PrinterColumn =>
  column(name, `.status.conditions[?(@.type=='${type}')].status`);

export const served = (name: string, rest: Omit<ResourceVersion, 'name' | 'served'>): ResourceVersion => ({
  name,
  served: true,
  ...rest,
});

type Shape = Omit<ResourceDefinition, 'plural' | 'singular' | 'versions' | 'group'> &
  Partial<Pick<ResourceDefinition, 'plural' | 'singular'>>;

/** A custom resource; its names are derived from its kind unless they are given. */
export function customResource(group: string, shape: Shape, versions: ResourceVersion[]): ResourceDefinition {
  const singular = shape.singular ?? shape.kind.toLowerCase();
  return { ...shape, group, singular, plural: shape.plural ?? `${singular}s`, versions };
}

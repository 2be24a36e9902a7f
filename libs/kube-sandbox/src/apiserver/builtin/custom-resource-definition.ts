import type { KubeObject } from '../kube-object.js';
import type { PrinterColumn, ResourceDefinition } from '../resource-definition.js';
import type { StructuralSchema } from '../schema/structural-schema.js';

export const CRDS = 'customresourcedefinitions.apiextensions.k8s.io';

export interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: StructuralSchema };
  subresources?: { status?: object; scale?: ResourceDefinition['scale'] };
  additionalPrinterColumns?: PrinterColumn[];
  selectableFields?: { jsonPath: string }[];
}

export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string;
    scope: 'Namespaced' | 'Cluster';
    names: {
      plural: string;
      singular?: string;
      kind: string;
      listKind?: string;
      shortNames?: string[];
      categories?: string[];
    };
    versions: CrdVersion[];
  };
  status?: object;
}

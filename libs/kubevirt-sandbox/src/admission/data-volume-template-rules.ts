import type { StatusCause } from '@headgate/kube-sandbox';
import type { VirtualMachine } from '../types/virtual-machine.js';
import { claimNameOf } from '../machines/volume-snapshot-statuses.js';
import { invalidValue } from './cause.js';

/** Validates the `dataVolumeTemplates` of a VM. */
export function dataVolumeTemplateCauses({ metadata, spec }: VirtualMachine): StatusCause[] {
  const used = new Set((spec.template.spec?.volumes ?? []).map(claimNameOf));
  return (spec.dataVolumeTemplates ?? []).flatMap((template, index) => {
    const path = `spec.dataVolumeTemplates[${index}]`;
    const namespace = template.metadata?.namespace;
    if (namespace && namespace !== metadata.namespace) {
      const message = `Embedded DataVolume namespace ${namespace} differs from VM namespace ${metadata.namespace}`;
      return [invalidValue(`${path}.metadata.namespace`, message)];
    }
    const problem = contentProblem(template.spec);
    if (problem) return [invalidValue(path, problem)];
    if (used.has(template.metadata?.name)) return [];
    return [
      {
        reason: 'FieldValueRequired',
        message: `DataVolumeTemplate entry spec.dataVolumeTemplate[${index}] must be referenced in the VMI template's 'volumes' list`,
        field: `spec.dataVolumeTemplate[${index}]`,
      },
    ];
  });
}

type TemplateSpec = NonNullable<VirtualMachine['spec']['dataVolumeTemplates']>[number]['spec'];

function contentProblem({ pvc, storage, source, sourceRef }: TemplateSpec): string | undefined {
  if (!pvc && !storage) return 'Missing Data volume PVC or Storage';
  if (pvc && storage) return 'Duplicate storage definition, both target storage and target pvc defined';
  const populated = pvc?.dataSource ?? pvc?.dataSourceRef ?? storage?.dataSource ?? storage?.dataSourceRef;
  if (!populated && Boolean(source) === Boolean(sourceRef)) {
    return 'Data volume should have either Source, SourceRef, or be externally populated';
  }
  return source && Object.keys(source).length > 1 ? 'Multiple dataVolume sources' : undefined;
}

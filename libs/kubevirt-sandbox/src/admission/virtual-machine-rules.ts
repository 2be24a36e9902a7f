import type { AdmissionRequest, StatusCause } from '@headgate/kube-sandbox';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';
import { invalidValue, requiredValue } from './cause.js';
import { dataVolumeTemplateCauses } from './data-volume-template-rules.js';
import { reservedLabelCauses } from './reserved-labels.js';
import { cpuCauses, validateTemplateSpec } from './vmi-spec-rules.js';

const STRATEGIES = ['Halted', 'Manual', 'Always', 'RerunOnFailure', 'Once'];

/** The checks of the validating webhook for VMs, on create and on update. */
export function virtualMachineCauses(vm: VirtualMachine, context: SimulationContext): StatusCause[] {
  const { template } = vm.spec;
  if (!template) return [requiredValue('spec.template', 'missing virtual machine template.')];
  return [
    ...runningCauses(vm, context),
    ...dataVolumeTemplateCauses(vm),
    ...reservedLabelCauses(template.metadata?.labels, 'spec.template.metadata.labels'),
    ...conflictCauses(vm),
    ...(template.spec ? validateTemplateSpec(template.spec, 'spec.template.spec', context) : []),
    // The checks of live updates repeat that of the sockets.
    ...(template.spec ? cpuCauses(template.spec, 'spec.template.spec') : []),
    ...volumesStrategyCauses(vm, context),
  ];
}

function runningCauses({ spec }: VirtualMachine, context: SimulationContext): StatusCause[] {
  const { running, runStrategy } = spec;
  const strategies = context.release.since('1.6') ? [...STRATEGIES, 'WaitAsReceiver'] : STRATEGIES;
  if (running !== undefined && runStrategy) {
    return [
      invalidValue(
        'spec.running',
        'Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy instead',
      ),
    ];
  }
  if (running === undefined && !runStrategy) return [invalidValue('spec.running', 'RunStrategy must be specified')];
  if (runStrategy && !strategies.includes(runStrategy)) {
    return [invalidValue('spec.runStrategy', `Invalid RunStrategy (${runStrategy})`)];
  }
  return [];
}

function volumesStrategyCauses({ spec }: VirtualMachine, { gates }: SimulationContext): StatusCause[] {
  const { updateVolumesStrategy } = spec;
  const needed = [
    ...(updateVolumesStrategy === undefined ? [] : ['VolumesUpdateStrategy']),
    ...(updateVolumesStrategy === 'Migration' ? ['VolumeMigration'] : []),
  ];
  return needed
    .filter((gate) => !gates.isOn(gate))
    .map((gate) => invalidValue('updateVolumesStrategy', `${gate} feature gate is not enabled in kubevirt-config`));
}

/** A check of the mutating webhook. */
export function matcherCauses({ spec }: VirtualMachine): StatusCause[] {
  const { instancetype, preference } = spec;
  const causes: StatusCause[] = [];
  if (instancetype && !instancetype.name && !instancetype.inferFromVolume) {
    const message = 'Either Name or InferFromVolume should be provided within the InstancetypeMatcher';
    causes.push({ reason: 'FieldValueNotFound', message, field: 'spec.instancetype' });
  }
  if (preference && !preference.name && !preference.inferFromVolume) {
    const message = 'Either Name or InferFromVolume should be provided within the PreferenceMatcher';
    causes.push({ reason: 'FieldValueNotFound', message, field: 'spec.preference' });
  }
  return causes;
}

const conflictCauses = ({ spec }: VirtualMachine): StatusCause[] =>
  spec.instancetype ? conflictingFields(spec.template.spec.domain).map(conflictCause) : [];

/** A matcher with another name can't keep the revision of the old one. */
export function matcherUpdateCauses({ object, oldObject }: AdmissionRequest<VirtualMachine>): StatusCause[] {
  return (['instancetype', 'preference'] as const).flatMap((matcher) => {
    const before = oldObject?.spec[matcher];
    const after = object.spec[matcher];
    if (!before || !after || before.name === after.name) return [];
    if (!after.revisionName || after.revisionName !== before.revisionName) return [];
    return [
      invalidValue(
        `spec.${matcher}.revisionName`,
        'the Matcher Name has been updated without updating the RevisionName',
      ),
    ];
  });
}

function conflictingFields(domain: VirtualMachine['spec']['template']['spec']['domain']): string[] {
  const { cpu, memory, resources } = domain;
  return [
    ...(['sockets', 'cores', 'threads'] as const).filter((field) => cpu?.[field]).map((field) => `cpu.${field}`),
    ...(memory?.guest ? ['memory.guest'] : []),
    ...(['requests', 'limits'] as const).flatMap((part) =>
      Object.keys(resources?.[part] ?? {}).map((name) => `resources.${part}.${name}`),
    ),
  ];
}

const conflictCause = (field: string): StatusCause =>
  invalidValue(
    `spec.template.spec.domain.${field}`,
    `VM field(s) spec.template.spec.domain.${field} conflicts with selected instance type`,
  );

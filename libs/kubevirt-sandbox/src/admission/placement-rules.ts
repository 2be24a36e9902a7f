import type { StatusCause } from '@headgate/kube-sandbox';
import { quantityValue } from '../quantity.js';
import type { VmiSpec } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import { invalidValue } from './cause.js';

/** Rules for dedicated CPUs, NUMA, hugepages and devices of nodes. Source: KubeVirt's vmi-create-admitter.go */
export const placementCauses = (spec: VmiSpec, path: string, context: SimulationContext): StatusCause[] => [
  ...cpuCauses(spec, path),
  ...numaCauses(spec, path, context),
  ...hugepageCauses(spec, path),
  ...deviceCauses(spec, path, context),
];

function cpuCauses({ domain }: VmiSpec, path: string): StatusCause[] {
  const { dedicatedCpuPlacement, isolateEmulatorThread, threads = 1 } = domain.cpu ?? {};
  const here = `${path}.domain.cpu`;
  const causes: StatusCause[] = [];
  if (isolateEmulatorThread && !dedicatedCpuPlacement) {
    causes.push(
      invalidValue(
        `${here}.isolateEmulatorThread`,
        'IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement',
      ),
    );
  }
  if (dedicatedCpuPlacement && threads > 2) {
    causes.push(
      invalidValue(
        `${here}.dedicatedCpuPlacement`,
        `Not more than two threads must be provided at ${here}.threads (got ${threads}) when DedicatedCPUPlacement is true`,
      ),
    );
  }
  return causes;
}

function numaCauses({ domain }: VmiSpec, path: string, { gates }: SimulationContext): StatusCause[] {
  if (!domain.cpu?.numa?.guestMappingPassthrough) return [];
  const field = `${path}.domain.cpu.numa.guestMappingPassthrough`;
  return [
    ...(gates.isOn('NUMA')
      ? []
      : [invalidValue(field, `NUMA feature gate is not enabled in kubevirt-config, invalid entry ${field}`)]),
    ...(domain.cpu.dedicatedCpuPlacement
      ? []
      : [
          invalidValue(
            field,
            `${path}.domain.cpu.dedicatedCpuPlacement must be set to true when NUMA topology strategy is set in ${field}`,
          ),
        ]),
    ...(domain.memory?.hugepages
      ? []
      : [
          invalidValue(
            field,
            `${path}.domain.memory.hugepages must be requested when NUMA topology strategy is set in ${field}`,
          ),
        ]),
  ];
}

/** KubeVirt requests as much memory as the guest has unless the spec requests some itself. */
function hugepageCauses({ domain }: VmiSpec, path: string): StatusCause[] {
  const { hugepages, guest } = domain.memory ?? {};
  if (!hugepages) return [];
  const size = hugepages.pageSize ?? '';
  const field = `${path}.domain.hugepages.size`;
  const pageBytes = quantityValue(size);
  if (!(pageBytes > 0)) {
    return [
      invalidValue(
        field,
        `${field} '${size}': quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
      ),
    ];
  }
  const memory = domain.resources?.requests?.memory ?? guest;
  if (memory === undefined) return [];
  const where = `${path}.domain.resources.requests.memory`;
  const bytes = quantityValue(memory);
  if (bytes < pageBytes) {
    return [invalidValue(where, `${where} '${memory}' must be equal to or larger than page size ${field} '${size}'`)];
  }
  if (bytes % pageBytes === 0) return [];
  return [invalidValue(where, `${where} '${memory}' is not a multiple of the page size ${field} '${size}'`)];
}

function deviceCauses({ domain }: VmiSpec, path: string, { gates }: SimulationContext): StatusCause[] {
  const { gpus, hostDevices } = domain.devices;
  return [
    ...(gpus && !gates.isOn('GPU')
      ? [invalidValue(`${path}.GPUs`, 'GPU feature gate is not enabled in kubevirt-config')]
      : []),
    ...(hostDevices && !gates.isOn('HostDevices')
      ? [invalidValue(`${path}.HostDevices`, 'Host Devices feature gate is not enabled in kubevirt-config')]
      : []),
  ];
}

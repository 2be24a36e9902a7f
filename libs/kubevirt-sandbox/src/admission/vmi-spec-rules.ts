import type { StatusCause } from '@headgate/kube-sandbox';
import { EVICTION_STRATEGIES } from '../eviction-strategy.js';
import { GIB, MIB, quantityValue } from '../quantity.js';
import type { VmiSpec } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import { invalidValue, requiredValue } from './cause.js';
import { diskCauses } from './disk-rules.js';
import { networkCauses } from './network-rules.js';
import { placementCauses } from './placement-rules.js';
import { volumeCauses } from './volume-rules.js';

const SMALLEST_MEMORY = 1e6;
const MACHINES = ['q35*', 'pc-q35*'];

/** Rules for both a VMI and the template of a VM. */
export function validateTemplateSpec(spec: VmiSpec, path: string, context: SimulationContext): StatusCause[] {
  const emptyDrives = context.gates.hotplug === 'declarative';
  return [
    ...volumeCauses(spec, path, context.gates.isOn('HostDisk')),
    ...diskCauses(spec, path, emptyDrives),
    ...networkCauses(spec, path, context),
    ...memoryCauses(spec, path),
    ...memoryHotplugCauses(spec, path),
    ...cpuCauses(spec, path),
    ...placementCauses(spec, path, context),
    ...machineCauses(spec, path),
    ...evictionCauses(spec, path),
    ...credentialCauses(spec, path),
  ];
}

/** Rules for a VMI, which must also specify its memory. */
export function validateVmiSpec(spec: VmiSpec, path: string, context: SimulationContext): StatusCause[] {
  return [...missingMemory(spec, path), ...validateTemplateSpec(spec, path, context)];
}

function missingMemory({ domain }: VmiSpec, path: string): StatusCause[] {
  const { memory, resources } = domain;
  if (memory?.guest || memory?.hugepages?.pageSize || resources?.requests?.memory || resources?.limits?.memory)
    return [];
  const here = `${path}.domain`;
  return [
    requiredValue(
      '',
      `no memory requested, at least one of '${here}.memory.guest', '${here}.memory.hugepages.pageSize' or '${here}.resources.requests.memory' must be set`,
    ),
  ];
}

function memoryCauses({ domain }: VmiSpec, path: string): StatusCause[] {
  const { requests, limits } = domain.resources ?? {};
  const causes: StatusCause[] = [];
  // The webhook checks the request only, not the memory of the guest.
  const requested = requests?.memory;
  if (requested !== undefined && quantityValue(requested) < SMALLEST_MEMORY) {
    const field = `${path}.domain.resources.requests.memory`;
    causes.push(invalidValue(field, `${field} '${requested}': must be greater than or equal to 1M.`));
  }
  if (requests?.memory && limits?.memory && quantityValue(requests.memory) > quantityValue(limits.memory)) {
    const field = `${path}.domain.resources.requests.memory`;
    const limit = `${path}.domain.resources.limits.memory`;
    causes.push(invalidValue(field, `${field} '${requests.memory}' is greater than ${limit} '${limits.memory}'`));
  }
  return causes;
}

/** An explicit `maxGuest` must allow memory hotplug; the first problem is reported. */
function memoryHotplugCauses(spec: VmiSpec, path: string): StatusCause[] {
  const { memory } = spec.domain;
  if (memory?.maxGuest === undefined) return [];
  const problem = memoryHotplugProblem(spec, quantityValue(memory.maxGuest));
  return problem ? [invalidValue(`${path}.domain.memory.guest`, problem)] : [];
}

function memoryHotplugProblem({ domain, architecture = 'amd64' }: VmiSpec, maxGuest: number): string | undefined {
  const { guest: text, hugepages } = domain.memory ?? {};
  const [alignment, name] = hugepages?.pageSize === '1Gi' ? [GIB, '1Gi'] : [2 * MIB, '2Mi'];
  if (text === undefined) return 'Guest memory must be configured when memory hotplug is enabled';
  const guest = quantityValue(text);
  if (guest > maxGuest) return 'Guest memory is greater than the configured maxGuest memory';
  if (guest % alignment !== 0) return `Guest memory must be ${name} aligned`;
  if (maxGuest % alignment !== 0) return `MaxGuest must be ${name} aligned`;
  if (!['amd64', 'arm64'].includes(architecture)) {
    return 'Memory hotplug is only available for x86_64 and arm64 VMs';
  }
  return guest < GIB ? 'Memory hotplug is only available for VMs with at least 1Gi of guest memory' : undefined;
}

function evictionCauses({ evictionStrategy }: VmiSpec, path: string): StatusCause[] {
  if (!evictionStrategy || (EVICTION_STRATEGIES as readonly string[]).includes(evictionStrategy)) return [];
  const field = `${path}.evictionStrategy`;
  return [invalidValue(field, `${field} is set with an unrecognized option: ${evictionStrategy}`)];
}

/** The sockets of a template. */
export function cpuCauses({ domain }: VmiSpec, path: string): StatusCause[] {
  const { sockets = 1, maxSockets } = domain.cpu ?? {};
  if (maxSockets === undefined || sockets <= maxSockets) return [];
  return [
    invalidValue(
      `${path}.domain.cpu.sockets`,
      'Number of sockets in CPU topology is greater than the maximum sockets allowed',
    ),
  ];
}

function machineCauses({ domain }: VmiSpec, path: string): StatusCause[] {
  const type = domain.machine?.type;
  if (!type || /^(pc-)?q35/.test(type)) return [];
  const field = `${path}.domain.machine.type`;
  return [invalidValue(field, `${field} is not supported: ${type} (allowed values: [${MACHINES.join(' ')}])`)];
}

const CLOUD_INIT_OF = { noCloud: 'cloudInitNoCloud', configDrive: 'cloudInitConfigDrive' } as const;

function credentialCauses({ accessCredentials = [], volumes = [] }: VmiSpec, path: string): StatusCause[] {
  return accessCredentials.flatMap(({ sshPublicKey }, index) =>
    (Object.keys(CLOUD_INIT_OF) as (keyof typeof CLOUD_INIT_OF)[])
      .filter((method) => sshPublicKey?.propagationMethod?.[method])
      .filter((method) => !volumes.some((volume) => volume[CLOUD_INIT_OF[method]]))
      .map((method) => {
        const field = `${path}.accessCredentials[${index}].sshPublicKey.propagationMethod`;
        return invalidValue(
          field,
          `${path}.accessCredentials[${index}] requires a ${method} volume to exist when the ${method} propagationMethod is in use.`,
        );
      }),
  );
}

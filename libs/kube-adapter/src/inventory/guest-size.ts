import { parseKubernetesBytes, parseMillicores } from '@headgate/domain-contracts';
import type { CpuTopology, GuestSpec } from '../api/object-types.js';

/** CPU and memory of a guest; undefined where the object does not define them. */
export interface GuestSize {
  readonly cpu?: number;
  readonly memoryBytes?: number;
}

export const topologyCpus = ({ cores = 1, sockets = 1, threads = 1 }: CpuTopology): number => cores * sockets * threads;

/** The requested size of a guest, derived as KubeVirt does: from the topology, otherwise from the resource requests. */
export function sizeOfSpec(spec: GuestSpec | undefined): GuestSize {
  const domain = spec?.domain;
  const requests = domain?.resources?.requests;
  const limits = domain?.resources?.limits;
  const cpu = domain?.cpu;
  const hasTopology = cpu?.sockets !== undefined || cpu?.cores !== undefined || cpu?.threads !== undefined;
  const requestedCpu = requests?.cpu ?? limits?.cpu;
  return {
    cpu: hasTopology ? topologyCpus(cpu) : requestedCpu === undefined ? undefined : wholeCpus(String(requestedCpu)),
    memoryBytes: bytesOf(domain?.memory?.guest ?? requests?.memory ?? limits?.memory),
  };
}

/** A quantity as bytes; undefined when it is absent or invalid, because one bad object must not stop the inventory. */
export function bytesOf(quantity: string | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  try {
    return parseKubernetesBytes(String(quantity));
  } catch {
    return undefined;
  }
}

/** A quantity as millicores, by the same rule. */
export function millicoresOf(quantity: string | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  try {
    return parseMillicores(String(quantity));
  } catch {
    return undefined;
  }
}

function wholeCpus(quantity: string): number | undefined {
  const millicores = millicoresOf(quantity);
  return millicores === undefined ? undefined : Math.max(1, Math.ceil(millicores / 1000));
}

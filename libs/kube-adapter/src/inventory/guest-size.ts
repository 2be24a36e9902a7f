import { parseBytes, parseMillicores } from '@headgate/domain-contracts';
import type { CpuTopology, GuestSpec } from './vm-object.js';

/** CPU and memory of a guest; undefined where the object does not tell. */
export interface GuestSize {
  readonly cpu?: number;
  readonly memoryBytes?: number;
}

export const topologyCpus = ({ cores = 1, sockets = 1, threads = 1 }: CpuTopology): number => cores * sockets * threads;

/** What a guest's spec asks for: the topology first, then the pod's requests, as KubeVirt derives it. */
export function sizeOfSpec(spec: GuestSpec | undefined): GuestSize {
  const domain = spec?.domain;
  const requests = domain?.resources?.requests;
  const limits = domain?.resources?.limits;
  const cpu = domain?.cpu;
  const hasTopology = cpu?.sockets !== undefined || cpu?.cores !== undefined || cpu?.threads !== undefined;
  const asked = requests?.cpu ?? limits?.cpu;
  return {
    cpu: hasTopology ? topologyCpus(cpu) : asked === undefined ? undefined : wholeCpus(String(asked)),
    memoryBytes: bytesOf(domain?.memory?.guest ?? requests?.memory ?? limits?.memory),
  };
}

/** A quantity as bytes; undefined when it is absent or nonsense, for a stranger's object must not stop the inventory. */
export function bytesOf(quantity: string | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  try {
    return parseBytes(String(quantity));
  } catch {
    return undefined;
  }
}

function wholeCpus(quantity: string): number | undefined {
  try {
    return Math.max(1, Math.ceil(parseMillicores(quantity) / 1000));
  } catch {
    return undefined;
  }
}

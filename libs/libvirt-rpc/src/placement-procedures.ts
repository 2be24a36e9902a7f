import { procedure } from './procedures.js';
import { array, bytes, flag, int, nothing, string, struct, uint, unsignedHyper } from './wire/codec.js';
import { domain, MAX_LIST_LENGTH } from './wire/types.js';

/** The limits of libvirt. */
const MAX_CPU_MAP_BYTES = 2048;
const MAX_CELLS = 1024;

/** A bit for each CPU: the lowest bit of the first byte is CPU 0. */
const cpuMap = bytes(MAX_CPU_MAP_BYTES);

/** The calls about the CPUs, the pages and the devices of a host. */
export const placementProcedures = {
  domainPinVcpu: procedure('DomainPinVcpuFlags', 225, struct({ domain, vcpu: uint, cpuMap, flags: uint }), nothing),
  domainPinEmulator: procedure('DomainPinEmulator', 279, struct({ domain, cpuMap, flags: uint }), nothing),
  /** The map has the CPUs that are online; `present` counts those that are offline as well. */
  nodeGetCpuMap: procedure(
    'NodeGetCPUMap',
    293,
    struct({ needsMap: flag, needsOnline: flag, flags: uint }),
    struct({ cpuMap, online: uint, present: int }),
  ),
  /** Page sizes are in KiB. The counts are those of each page size in the first cell, then in the next one. */
  nodeGetFreePages: procedure(
    'NodeGetFreePages',
    340,
    struct({ pageKib: array(uint, MAX_CELLS), startCell: int, cellCount: uint, flags: uint }),
    struct({ counts: array(unsignedHyper, MAX_CELLS) }),
  ),
  connectListAllNodeDevices: procedure(
    'ConnectListAllNodeDevices',
    285,
    struct({ needsResults: flag, flags: uint }),
    struct({ devices: array(struct({ name: string }), MAX_LIST_LENGTH), count: uint }),
  ),
  nodeDeviceGetXmlDesc: procedure(
    'NodeDeviceGetXMLDesc',
    114,
    struct({ name: string, flags: uint }),
    struct({ xml: string }),
  ),
} as const;

/** The map of CPUs by their numbers. */
export function cpuMapOf(cpus: readonly number[]): Buffer {
  const map = Buffer.alloc(Math.floor(Math.max(0, ...cpus) / 8) + 1);
  for (const cpu of cpus) map[cpu >> 3] = (map[cpu >> 3] ?? 0) | (1 << (cpu & 7));
  return map;
}

/** The numbers of the CPUs in a map. */
export function cpusOfMap(map: Buffer): number[] {
  const cpus: number[] = [];
  for (let cpu = 0; cpu < map.length * 8; cpu++) if (((map[cpu >> 3] ?? 0) >> (cpu & 7)) & 1) cpus.push(cpu);
  return cpus;
}

import { seededUid } from '../seeds/seeded-values.js';
import { FULL, type Direction } from './guest-traffic.js';
import { loadLevel } from './pseudo-load.js';

/** The averages around which the usage of a seeded guest varies. */
export interface MeanUsage {
  /** From 0 to 1: the part of its CPUs. */
  readonly load: number;
  /** In bytes per second. Containers have none. */
  readonly traffic?: Readonly<Record<Direction, number>>;
}

/** Of a seeded VM, before it was restarted or got more disks and network cards. */
export function meanVmUsage(namespace: string, name: string): MeanUsage {
  const vmi = seededUid(`VirtualMachineInstance/${namespace}/${name}`);
  const of = (device: string, direction: Direction): number =>
    FULL[direction] * loadLevel(`${vmi}/${device}/${direction}`);
  return {
    load: loadLevel(`${seededUid(`Pod/${namespace}/${name}`)}/compute`),
    traffic: {
      read: of('root', 'read'),
      write: of('root', 'write'),
      receive: of('default', 'receive'),
      transmit: of('default', 'transmit'),
    },
  };
}

export const meanContainerUsage = (namespace: string, name: string): MeanUsage => ({
  load: loadLevel(`${seededUid(`Pod/${namespace}/${name}/ct`)}/main`),
});

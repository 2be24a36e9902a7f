import { describeDomain, bootDisk, type DomainDescription } from '../domain-xml/domain-description.js';
import { hasPendingChanges } from '../domain-xml/pending-changes.js';
import type { Virsh } from '../virsh/virsh.js';
import type { DomainId } from './domain-finder.js';
import { parseDomainState, type DomainState } from './domain-state.js';

/** One domain as libvirt has it at one moment. */
export interface DomainSnapshot {
  readonly description: DomainDescription;
  readonly state: DomainState;
  /** Size of the boot disk as the guest sees it; 0 when there is none or it is gone. */
  readonly diskBytes: number;
  readonly hasPendingChanges: boolean;
}

// Bounds the length of one command line.
const PER_CALL = 20;

/** Reads domains, several over one connection. */
export class DomainReader {
  constructor(private readonly virsh: Virsh) {}

  /** Those that are gone by now are left out. */
  async read(ids: readonly Pick<DomainId, 'uuid'>[]): Promise<DomainSnapshot[]> {
    const snapshots: DomainSnapshot[] = [];
    for (let from = 0; from < ids.length; from += PER_CALL) {
      const chunk = ids.slice(from, from + PER_CALL);
      const outputs = await this.virsh.batch(chunk.flatMap(({ uuid }) => commandsFor(uuid)));
      for (let i = 0; i < outputs.length; i += COMMANDS) {
        const snapshot = toSnapshot(outputs.slice(i, i + COMMANDS));
        if (snapshot) snapshots.push(snapshot);
      }
    }
    return snapshots;
  }
}

const COMMANDS = 4;

const commandsFor = (uuid: string): string[][] => [
  ['dumpxml', uuid],
  ['dumpxml', '--inactive', uuid],
  ['domstate', uuid, '--reason'],
  ['domblkinfo', uuid, '--all'],
];

function toSnapshot([live = '', kept = '', state = '', disks = '']: readonly string[]): DomainSnapshot | undefined {
  // It went away between the commands.
  if (live.trim() === '' || state.trim() === '') return undefined;
  const description = describeDomain(live);
  const parsedState = parseDomainState(state);
  return {
    description,
    state: parsedState,
    diskBytes: capacityOf(disks, bootDisk(description)?.target),
    hasPendingChanges:
      parsedState.isActive && kept.trim() !== '' && hasPendingChanges(description, describeDomain(kept)),
  };
}

/** From the table of `domblkinfo --all`: target, capacity, allocation, physical. */
function capacityOf(table: string, target: string | undefined): number {
  for (const line of table.split('\n')) {
    const [name, capacity] = line.trim().split(/\s+/);
    if (name === target && capacity !== undefined && /^\d+$/.test(capacity)) return Number(capacity);
  }
  return 0;
}

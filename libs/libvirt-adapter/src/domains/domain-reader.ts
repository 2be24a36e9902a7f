import {
  bootDisk,
  describeDomain,
  undescribedDomain,
  type DomainDescription,
} from '../domain-xml/domain-description.js';
import { hasPendingChanges } from '../domain-xml/pending-changes.js';
import type { Virsh } from '../virsh/virsh.js';
import type { DomainId } from './domain-finder.js';
import { parseDomainState, type DomainState } from './domain-state.js';

/** The state of one domain at one moment. */
export interface DomainSnapshot {
  readonly description: DomainDescription;
  readonly state: DomainState;
  /** Virtual size of the boot disk; 0 when there is none or its file is missing. */
  readonly diskBytes: number;
  readonly hasPendingChanges: boolean;
}

// Keeps a command line within its length limit.
const DOMAINS_PER_BATCH = 20;

/** Reads domains in batches, each over one connection. */
export class DomainReader {
  constructor(private readonly virsh: Virsh) {}

  /** Leaves out domains that no longer exist. */
  async read(ids: readonly DomainId[]): Promise<DomainSnapshot[]> {
    const snapshots: DomainSnapshot[] = [];
    for (let from = 0; from < ids.length; from += DOMAINS_PER_BATCH) {
      const chunk = ids.slice(from, from + DOMAINS_PER_BATCH);
      const outputs = await this.virsh.batch(chunk.flatMap(({ uuid }) => commandsFor(uuid)));
      for (let i = 0; i < outputs.length; i += COMMANDS_PER_DOMAIN) {
        const id = chunk[i / COMMANDS_PER_DOMAIN];
        const snapshot = id && toSnapshot(id, outputs.slice(i, i + COMMANDS_PER_DOMAIN));
        if (snapshot) snapshots.push(snapshot);
      }
    }
    return snapshots;
  }
}

const COMMANDS_PER_DOMAIN = 4;

const commandsFor = (uuid: string): string[][] => [
  ['dumpxml', uuid],
  ['dumpxml', '--inactive', uuid],
  ['domstate', uuid, '--reason'],
  ['domblkinfo', uuid, '--all'],
];

function toSnapshot(
  id: DomainId,
  [live = '', persistent = '', state = '', disks = '']: readonly string[],
): DomainSnapshot | undefined {
  // The domain was removed between the commands.
  if (live.trim() === '' || state.trim() === '') return undefined;
  const description = describe(id, live);
  const parsedState = parseDomainState(state);
  return {
    description,
    state: parsedState,
    diskBytes: capacityOf(disks, bootDisk(description)?.target),
    hasPendingChanges:
      parsedState.isActive && persistent.trim() !== '' && hasPendingChanges(description, describe(id, persistent)),
  };
}

/** One unusual domain must not prevent the others from being read. */
function describe({ name, uuid }: DomainId, xml: string): DomainDescription {
  try {
    return describeDomain(xml);
  } catch (error) {
    return undescribedDomain(name, uuid, error);
  }
}

/** Parses the table of `domblkinfo --all`: target, capacity, allocation, physical. */
function capacityOf(table: string, target: string | undefined): number {
  for (const line of table.split('\n')) {
    const [name, capacity] = line.trim().split(/\s+/);
    if (name === target && capacity !== undefined && /^\d+$/.test(capacity)) return Number(capacity);
  }
  return 0;
}

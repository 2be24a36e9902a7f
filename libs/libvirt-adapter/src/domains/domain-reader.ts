import type { DomainId, DomainReading } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import {
  bootDisk,
  describeDomain,
  undescribedDomain,
  type DomainDescription,
} from '../domain-xml/domain-description.js';
import { countPendingChanges } from '../domain-xml/pending-changes.js';
import type { DomainState } from '../connection/domain-state.js';

/** The state of one domain at one moment. */
export interface DomainSnapshot {
  readonly description: DomainDescription;
  readonly state: DomainState;
  /** Virtual size of the boot disk; 0 when there is none or its file is missing. */
  readonly diskBytes: number;
  readonly pendingCount: number;
}

interface Parsed {
  readonly xml: string;
  readonly description: DomainDescription;
}

/** Reads domains and parses their XML, which takes most of the time and is done again only if the XML has changed. */
export class DomainReader {
  private readonly live = new Map<string, Parsed>();
  private readonly persistent = new Map<string, Parsed>();

  constructor(private readonly connection: LibvirtConnection) {}

  /** Leaves out domains that no longer exist. */
  async read(ids: readonly DomainId[]): Promise<DomainSnapshot[]> {
    return (await this.connection.domains.read(ids)).map((reading) => this.toSnapshot(reading));
  }

  /** Discards the parsed XML of a domain that was removed. */
  forget(uuid: string): void {
    this.live.delete(uuid);
    this.persistent.delete(uuid);
  }

  private toSnapshot({ id, xml, persistentXml, state, diskBytes }: DomainReading): DomainSnapshot {
    const description = parse(this.live, id, xml);
    return {
      description,
      state,
      diskBytes: diskBytes.get(bootDisk(description)?.target ?? '') ?? 0,
      pendingCount:
        state.isActive && persistentXml !== undefined
          ? countPendingChanges(description, parse(this.persistent, id, persistentXml))
          : 0,
    };
  }
}

function parse(kept: Map<string, Parsed>, id: DomainId, xml: string): DomainDescription {
  const known = kept.get(id.uuid);
  if (known?.xml === xml) return known.description;
  const description = describe(id, xml);
  kept.set(id.uuid, { xml, description });
  return description;
}

/** One unusual domain must not prevent the others from being read. */
function describe({ name, uuid }: DomainId, xml: string): DomainDescription {
  try {
    return describeDomain(xml);
  } catch (error) {
    return undescribedDomain(name, uuid, error);
  }
}

import type { DomainId, DomainReading } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import {
  bootDisk,
  describeDomain,
  undescribedDomain,
  type DomainDescription,
} from '../domain-xml/domain-description.js';
import { hasPendingChanges } from '../domain-xml/pending-changes.js';
import type { DomainState } from './domain-state.js';

/** The state of one domain at one moment. */
export interface DomainSnapshot {
  readonly description: DomainDescription;
  readonly state: DomainState;
  /** Virtual size of the boot disk; 0 when there is none or its file is missing. */
  readonly diskBytes: number;
  readonly hasPendingChanges: boolean;
}

/** Reads domains and parses their XML. */
export class DomainReader {
  constructor(private readonly connection: LibvirtConnection) {}

  /** Leaves out domains that no longer exist. */
  async read(ids: readonly DomainId[]): Promise<DomainSnapshot[]> {
    return (await this.connection.domains.read(ids)).map(toSnapshot);
  }
}

function toSnapshot({ id, xml, persistentXml, state, diskBytes }: DomainReading): DomainSnapshot {
  const description = describe(id, xml);
  return {
    description,
    state,
    diskBytes: diskBytes.get(bootDisk(description)?.target ?? '') ?? 0,
    hasPendingChanges:
      state.isActive && persistentXml !== undefined && hasPendingChanges(description, describe(id, persistentXml)),
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

import type { InstanceRef } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { describeDomain, undescribedDomain, type DomainDescription } from '../domain-xml/domain-description.js';

/** A domain as far as the storage and the networks that it uses matter. */
export interface ReadDomain {
  readonly ref: InstanceRef;
  readonly isActive: boolean;
  readonly description: DomainDescription;
}

/** All domains, sorted by name. One with unusual XML must not prevent the others from being read. */
export async function readDomains(connection: LibvirtConnection, finder: DomainFinder): Promise<ReadDomain[]> {
  const readings = await connection.domains.read(await finder.all());
  return readings
    .map(({ id, xml, state }) => ({ ref: finder.refOf(id), isActive: state.isActive, description: describe(id, xml) }))
    .sort((a, b) => (a.ref.name < b.ref.name ? -1 : 1));
}

function describe({ name, uuid }: { name: string; uuid: string }, xml: string): DomainDescription {
  try {
    return describeDomain(xml);
  } catch (error) {
    return undescribedDomain(name, uuid, error);
  }
}

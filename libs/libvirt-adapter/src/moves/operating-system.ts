import type { DomainDescription } from '../domain-xml/domain-description.js';
import { attribute, element, elements, type XmlElement } from '../xml/xml.js';
import { ANY_WINDOWS, type GuestProfiles } from '../guest-profiles/guest-profile.js';

/** The metadata that virt-manager and virt-install write. */
const LIBOSINFO_XMLNS = 'http://libosinfo.org/xmlns/libvirt/domain/1.0';

/**
 * The operating system of the guest: as the service recorded it, or virt-manager did, or, from the enlightenments of
 * Hyper-V, any Windows.
 * @returns a short ID of libosinfo; undefined if it is unknown
 */
export async function operatingSystemOf(
  { metadata, document }: Pick<DomainDescription, 'metadata' | 'document'>,
  profiles: Pick<GuestProfiles, 'shortIdOf'>,
): Promise<string | undefined> {
  if (metadata.os !== undefined) return metadata.os;
  const id = libosinfoId(element(document, 'metadata'));
  const shortId = id === undefined ? undefined : await profiles.shortIdOf?.(id);
  if (shortId !== undefined) return shortId;
  return elements(element(document, 'features'), 'hyperv').length > 0 ? ANY_WINDOWS : undefined;
}

function libosinfoId(metadata: XmlElement | undefined): string | undefined {
  for (const name of Object.keys(metadata ?? {})) {
    const [prefix, local] = name.includes(':') ? (name.split(':') as [string, string]) : ['', name];
    const root = local === 'libosinfo' ? element(metadata, name) : undefined;
    if (attribute(root, prefix === '' ? 'xmlns' : `xmlns:${prefix}`) !== LIBOSINFO_XMLNS) continue;
    return attribute(element(root, prefix === '' ? 'os' : `${prefix}:os`), 'id');
  }
  return undefined;
}

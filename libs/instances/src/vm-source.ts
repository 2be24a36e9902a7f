import {
  DomainError,
  VM_SOURCES,
  type CatalogEntry,
  type ImageCatalog,
  type VmSource,
} from '@headgate/domain-contracts';

/** The six source fields of a create request. */
export interface SourceFields {
  readonly containerDisk?: string;
  readonly image?: string;
  readonly import?: string;
  readonly iso?: string;
  readonly bootc?: string;
  readonly pvc?: string;
  readonly sshKey?: string;
}

/** @throws DomainError INVALID_SOURCE unless exactly one source is set, UNKNOWN_CATALOG_ENTRY */
export function chooseSource(fields: SourceFields, catalog: ImageCatalog): VmSource {
  const given = VM_SOURCES.filter((kind) => fields[kind] !== undefined);
  const [kind] = given;
  if (kind === undefined || given.length > 1) {
    const found = given.length === 0 ? 'none is' : `${given.join(' and ')} are`;
    throw new DomainError('INVALID_SOURCE', `Exactly one of ${VM_SOURCES.join(', ')} must be set; ${found}.`);
  }
  if (fields.sshKey !== undefined && kind !== 'bootc') {
    throw new DomainError('INVALID_SOURCE', 'sshKey is for a bootc source only; elsewhere put the key into cloudInit.');
  }
  const value = fields[kind] ?? '';
  switch (kind) {
    case 'containerDisk':
      return { kind, image: value };
    case 'image':
      return sourceOf(catalog.find(value));
    case 'import':
    case 'iso':
      return { kind, url: value };
    case 'bootc':
      return { kind, image: value, sshKey: fields.sshKey };
    case 'pvc':
      return { kind, claim: value };
  }
}

/** An image that is downloaded is imported like any URL. */
function sourceOf(entry: CatalogEntry): VmSource {
  if (!entry.download) return { kind: 'image', entry };
  const { kind, url } = entry.download;
  return { kind: kind === 'iso' ? 'iso' : 'import', url };
}

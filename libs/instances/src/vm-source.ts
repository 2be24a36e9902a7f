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

/** The name of an image that is not in the catalog. It may be that of an imported image. */
export interface UnknownImage {
  readonly kind: 'unknownImage';
  readonly name: string;
  readonly problem: DomainError;
}

/** @throws DomainError INVALID_SOURCE unless exactly one source is set */
export function chooseSource(fields: SourceFields, catalog: ImageCatalog): VmSource | UnknownImage {
  const given = VM_SOURCES.filter((kind) => fields[kind] !== undefined);
  const [kind] = given;
  if (kind === undefined || given.length > 1) {
    const found = given.length === 0 ? 'none is' : `${given.join(' and ')} are`;
    throw new DomainError('INVALID_SOURCE', `Exactly one of ${VM_SOURCES.join(', ')} must be set; ${found}.`);
  }
  if (fields.sshKey !== undefined && kind !== 'bootc') {
    throw new DomainError(
      'INVALID_SOURCE',
      'sshKey needs a bootc source; for other sources, put the key into cloudInit.',
    );
  }
  const value = fields[kind] ?? '';
  switch (kind) {
    case 'containerDisk':
      return { kind, image: value };
    case 'image':
      return findImage(value, catalog);
    case 'import':
    case 'iso':
      return { kind, url: value };
    case 'bootc':
      return { kind, image: value, sshKey: fields.sshKey };
    case 'pvc':
      return { kind, claim: value };
  }
}

function findImage(name: string, catalog: ImageCatalog): VmSource | UnknownImage {
  try {
    return sourceOf(catalog.find(name));
  } catch (error) {
    if (!DomainError.is(error, 'UNKNOWN_CATALOG_ENTRY')) throw error;
    return { kind: 'unknownImage', name, problem: error };
  }
}

/** An image that is downloaded is imported like any URL. */
function sourceOf(entry: CatalogEntry): VmSource {
  if (!entry.download) return { kind: 'image', entry };
  const { kind, url } = entry.download;
  return { kind: kind === 'iso' ? 'iso' : 'import', url };
}

import {
  DomainError,
  IMAGE_REFERENCE_RULE,
  isImageReference,
  type CatalogEntry,
  type CloudImage,
} from '@headgate/domain-contracts';

/** The version of the file's format. */
const VERSION = 1;
const ROOT_KEYS = ['version', 'images'];
const IMAGE_KEYS = ['name', 'description', 'defaultUser', 'containerDisk', 'downloads'];
const DOWNLOAD_KEYS = ['url', 'checksums', 'signature'];
/** Architectures as libvirt names them. */
const ARCHITECTURES = ['x86_64', 'aarch64'];
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/;
const USER = /^[a-z_][a-z0-9_-]{0,31}$/;
const MAX_TEXT_LENGTH = 200;
const MAX_URL_LENGTH = 2048;

/**
 * Reads the entries of a catalog file, whose format docs/operate.md describes.
 * @throws DomainError INVALID_INPUT with every problem of the file
 */
export function parseCatalog(data: unknown, source: string): readonly CatalogEntry[] {
  const reader = new CatalogReader();
  const entries = reader.catalog(data);
  if (reader.problems.length === 0) return entries;
  throw new DomainError('INVALID_INPUT', `${source} is not a catalog: ${reader.problems.join('; ')}.`, {
    details: { problems: reader.problems },
  });
}

type Fields = Readonly<Record<string, unknown>>;

class CatalogReader {
  readonly problems: string[] = [];

  catalog(data: unknown): CatalogEntry[] {
    const root = this.object(data, 'the file', ROOT_KEYS);
    if (root['version'] !== VERSION) this.report('version', `must be ${VERSION}`);
    const images = root['images'];
    if (!Array.isArray(images)) {
      this.report('images', 'must be a list');
      return [];
    }
    const entries = images.map((image, index) => this.image(image, `images[${index}]`));
    const names = entries.map(({ name }) => name);
    for (const name of new Set(names.filter((one, index) => names.indexOf(one) !== index)))
      this.report('images', `must have different names, but two are ${name}`);
    return entries;
  }

  private image(data: unknown, path: string): CatalogEntry {
    const image = this.object(data, path, IMAGE_KEYS);
    const name = this.text(image, 'name', path, NAME, 'a name of lower-case letters, digits, dots and hyphens');
    const description = this.text(image, 'description', path);
    const defaultUser = this.text(image, 'defaultUser', path, USER, 'a user name');
    const { containerDisk, downloads } = image;
    const isReference = typeof containerDisk === 'string' && isImageReference(containerDisk);
    if (containerDisk !== undefined && !isReference)
      this.report(`${path}.containerDisk`, `must be ${IMAGE_REFERENCE_RULE}`);
    if (containerDisk === undefined && downloads === undefined)
      this.report(path, 'must have containerDisk, downloads or both');
    return {
      name,
      description,
      defaultUser,
      containerDisk: isReference ? containerDisk : '',
      ...(downloads !== undefined && { cloudImages: this.downloads(downloads, `${path}.downloads`) }),
    };
  }

  private downloads(data: unknown, path: string): Record<string, CloudImage> {
    const downloads = this.object(data, path, ARCHITECTURES);
    const architectures = Object.keys(downloads);
    if (architectures.length === 0) this.report(path, `must have ${ARCHITECTURES.join(' or ')}`);
    return Object.fromEntries(architectures.map((arch) => [arch, this.download(downloads[arch], `${path}.${arch}`)]));
  }

  private download(data: unknown, path: string): CloudImage {
    const download = this.object(data, path, DOWNLOAD_KEYS);
    const { signature } = download;
    return {
      url: this.url(download['url'], `${path}.url`),
      checksums: this.url(download['checksums'], `${path}.checksums`),
      ...(signature !== undefined && { signature: this.url(signature, `${path}.signature`) }),
    };
  }

  /** The list of checksums is trusted because of TLS, so nothing may be fetched without it. */
  private url(value: unknown, path: string): string {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
    const isValid =
      url?.protocol === 'https:' && url.username === '' && url.hash === '' && url.href.length <= MAX_URL_LENGTH;
    if (!isValid) this.report(path, 'must be an https:// URL without a user and a fragment');
    return isValid ? url.href : '';
  }

  private text(fields: Fields, key: string, path: string, pattern = /^\S.*$/, rule = 'a text of one line'): string {
    const value = fields[key];
    const isValid = typeof value === 'string' && value.length <= MAX_TEXT_LENGTH && pattern.test(value);
    if (!isValid) this.report(`${path}.${key}`, `must be ${rule}`);
    return isValid ? value : '';
  }

  private object(value: unknown, path: string, keys: readonly string[]): Fields {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.report(path, 'must be an object');
      return {};
    }
    for (const key of Object.keys(value))
      if (!keys.includes(key)) this.report(path, `must not have ${JSON.stringify(key.slice(0, 40))}`);
    return value as Fields;
  }

  private report(path: string, rule: string): void {
    this.problems.push(`${path} ${rule}`);
  }
}

import { DomainError } from '@headgate/domain-contracts';

/** The location of an image in a registry. */
export interface ImageReference {
  /** Host, with the port if there is one. */
  readonly registry: string;
  readonly repository: string;
  /** A tag, or a digest. */
  readonly reference: string;
}

const REPOSITORY = /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const DIGEST = /^sha(?:256:[0-9a-f]{64}|512:[0-9a-f]{128})$/;

/**
 * `host[:port]/repository[:tag][@digest]`. The registry is required, because short names depend on the configuration of
 * other tools. Source: https://pkg.go.dev/github.com/distribution/reference
 * @throws DomainError INVALID_SOURCE
 */
export function parseImageReference(text: string): ImageReference {
  const [name = '', digest] = text.replace(/^(?:docker|oci):\/\//, '').split('@', 2);
  const slash = name.indexOf('/');
  const registry = name.slice(0, slash);
  const [repository = '', tag] = name.slice(slash + 1).split(':', 2);
  const isHost = slash > 0 && /^[a-z0-9.-]+(?::\d{1,5})?$|^\[[0-9a-f:]+\](?::\d{1,5})?$/i.test(registry);
  if (!isHost || !(/[.:]/.test(registry) || registry === 'localhost')) {
    throw new DomainError(
      'INVALID_SOURCE',
      `containerDisk must name its registry: registry.example/${text.slice(0, 80)}.`,
    );
  }
  const reference = digest ?? tag ?? 'latest';
  if (!REPOSITORY.test(repository) || !(digest === undefined ? TAG.test(reference) : DIGEST.test(digest))) {
    throw new DomainError(
      'INVALID_SOURCE',
      `${text.slice(0, 120)} is not an image reference: it must look like registry.example/path/name:tag.`,
    );
  }
  return { registry, repository, reference };
}

/** Loopback registries are used without TLS, as container tools do. */
export const registryUrl = (registry: string): string =>
  `${/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(registry) ? 'http' : 'https'}://${registry}`;

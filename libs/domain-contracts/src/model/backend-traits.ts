import { DomainError } from '../values/domain-error.js';

/**
 * The identifier of a kind of backend, such as `kubevirt`. Adapters define them; only the registry of kinds lists them.
 */
export type BackendKindName = string;

/**
 * The namespace of new instances on backends that have namespaces, unless the operator configures another. Source: the
 * API contract.
 */
export const DEFAULT_NAMESPACE = 'tailvm';

export interface NamespaceRule {
  /** The namespace of a new instance when the caller gives none. */
  readonly default: string;
  /** Whether the default is the only namespace there is. */
  readonly isOnlyOne: boolean;
}

/** What a backend accepts as the name of a new instance, in addition to the API's own rule for names. */
export interface InstanceNameRule {
  /** A regular expression that the whole name matches. */
  readonly pattern: string;
  readonly maxLength: number;
  /** What the name must be, to complete the sentence "name must …". */
  readonly description: string;
}

/**
 * How the disk of a catalog image is obtained: pulled from a registry, built on the machine that the service runs on,
 * or downloaded; a cloud image is downloaded by the service and verified against its publisher's checksums.
 */
export const IMAGE_KINDS = ['containerDisk', 'builtLocally', 'url', 'iso', 'cloudImage'] as const;
export type ImageKind = (typeof IMAGE_KINDS)[number];

/** Fields of a new VM that only some engines have. */
export const PLACEMENT_FIELDS = ['instancetype', 'preference', 'node'] as const;
export type PlacementField = (typeof PLACEMENT_FIELDS)[number];

/**
 * The properties of a kind of backend that its callers need: validation, the capabilities and the console read them
 * here instead of comparing kinds.
 */
export interface BackendTraits {
  readonly kind: BackendKindName;
  /** The name of the engine for people: `KubeVirt`, `libvirt`. */
  readonly label: string;
  readonly namespaces: NamespaceRule;
  readonly instanceNames: InstanceNameRule;
  readonly imageKinds: readonly ImageKind[];
  readonly placementFields: readonly PlacementField[];
  /**
   * Whether a backend is a single host, so that its guests are migrated to other contexts of the same kind. Default:
   * false.
   */
  readonly isSingleHost?: boolean;
}

/** A DNS label: what Kubernetes and libvirt both accept. */
export const DNS_LABEL_RULE: InstanceNameRule = {
  pattern: '[a-z0-9]([a-z0-9-]*[a-z0-9])?',
  maxLength: 63,
  description: 'start and end with a letter or a digit',
};

export const matchesNameRule = ({ pattern, maxLength }: InstanceNameRule, name: string): boolean =>
  name.length <= maxLength && new RegExp(`^(?:${pattern})$`).test(name);

/** @throws DomainError INVALID_INPUT for a namespace that the backend cannot have */
export function chooseNamespace({ namespaces }: BackendTraits, context: string, namespace?: string): string {
  if (namespaces.isOnlyOne && namespace !== undefined && namespace !== namespaces.default) {
    throw new DomainError(
      'INVALID_INPUT',
      `namespace must be "${namespaces.default}" on ${context}, which has no other.`,
    );
  }
  return namespace ?? namespaces.default;
}

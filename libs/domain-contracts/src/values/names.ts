import { DomainError } from './domain-error.js';

/** Names of instances, snapshots, volumes and sources. Source: the API contract. */
const INSTANCE_NAME = /^[a-z0-9][a-z0-9-]*$/;
export const MAX_NAME_LENGTH = 63;

/**
 * A DNS subdomain: nodes, instancetypes, storage classes.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
 */
const DNS_SUBDOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
/** The operator chooses the name of a context; those of kubeconfigs contain `@`, `:` and `/`. */
const CONTEXT_NAME = /^[A-Za-z0-9][A-Za-z0-9._@:/-]*$/;
/** The name part of a Kubernetes label key. */
const TAG = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/** No control characters, and no leading dash, which programs read as an option. */
const VOLUME_NAME_PART = /^(?!-)[^/\p{Cc}]{1,255}$/u;

export const isInstanceName = (text: string): boolean => text.length <= MAX_NAME_LENGTH && INSTANCE_NAME.test(text);
export const isKubernetesName = (text: string): boolean => text.length <= 253 && DNS_SUBDOMAIN.test(text);
/**
 * The name of an existing volume: a Kubernetes claim, or a libvirt volume, which may be preceded by its pool:
 * `default/a.qcow2`.
 */
export const isVolumeName = (text: string): boolean => {
  const parts = text.split('/');
  return parts.length <= 2 && parts.every((part) => VOLUME_NAME_PART.test(part) && part !== '.' && part !== '..');
};
export const isContextName = (text: string): boolean => text.length <= 253 && CONTEXT_NAME.test(text);
/** A tag becomes `svc.dev/tag.<tag>`, so the prefix `tag.` counts against the 63 characters of a label's name. */
export const isTag = (text: string): boolean => text.length <= MAX_NAME_LENGTH - 'tag.'.length && TAG.test(text);

/** @throws DomainError INVALID_NAME, naming the field */
export function expectInstanceName(text: string, field = 'name'): string {
  if (isInstanceName(text)) return text;
  throw new DomainError(
    'INVALID_NAME',
    `${field} must be 1 to ${MAX_NAME_LENGTH} characters of a-z, 0-9 and "-", beginning with a letter or a digit.`,
  );
}

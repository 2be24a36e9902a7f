import type { BackendKind } from './instance.js';

export interface NamespaceRule {
  /** Where a new instance goes when the caller names no namespace. */
  readonly default: string;
  /** The kind of backend has no other namespace. */
  readonly only: boolean;
}

/** A libvirt host knows no namespaces: all of its domains are in `local`. */
export const NAMESPACE_RULES: Readonly<Record<BackendKind, NamespaceRule>> = {
  kubevirt: { default: 'tailvm', only: false },
  libvirt: { default: 'local', only: true },
};

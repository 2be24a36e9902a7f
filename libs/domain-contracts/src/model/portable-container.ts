import type { Loss } from './loss.js';
import type { Refusal } from './plan.js';

/** A part of the configuration of a container that its context has. */
export interface PortableProfile {
  readonly name: string;
  /** A hash of its content. */
  readonly hash: string;
}

/** A container as it can be created again in another context, without its content. */
export interface PortableContainer {
  /** The kind of the archives of its parts. A backend receives only those of one kind. */
  readonly format: string;
  /** Such as `x86_64`; empty when it is unknown. */
  readonly arch: string;
  /** The names of the file systems that are copied, in the order in which they have to be received. */
  readonly parts: readonly string[];
  /** Roughly how much all parts contain; null when it is unknown. */
  readonly usedBytes: number | null;
  /** The storage pool or class of its root; absent when it is unknown. */
  readonly storageClass?: string;
  /** The profiles that a context must have, because the container gets a part of its configuration from them. */
  readonly profiles: readonly PortableProfile[];
  /** The networks that it is attached to itself, not by its profiles. */
  readonly networks: readonly string[];
}

/** A container as it can be copied, and what prevents that. */
export interface ContainerReading {
  readonly container: PortableContainer;
  /** Reasons why it can't be copied at all. */
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly string[];
  /** Properties of the container that a copy does not have. */
  readonly losses: readonly Loss[];
}

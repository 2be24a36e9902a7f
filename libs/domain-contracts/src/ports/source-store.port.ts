/** `containerDisk`: an image in a registry. `url`: a disk image to import. `iso`: an installation medium. */
export const SOURCE_KINDS = ['containerDisk', 'url', 'iso'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** An image that users have added to the catalog. */
export interface CustomSource {
  /** Its identity. */
  readonly name: string;
  readonly kind: SourceKind;
  readonly uri: string;
  readonly description: string;
}

/**
 * Stores the custom sources across restarts. A write that has returned is durable. Reads return the writes of this
 * process, and soon afterwards those of other replicas.
 */
export abstract class SourceStore {
  /** Adds a source, or replaces the one of the same name. */
  abstract put(source: CustomSource): Promise<void>;
  /** @returns whether there was one */
  abstract delete(name: string): Promise<boolean>;
  /** Sorted by name. */
  abstract all(): readonly CustomSource[];
  abstract get(name: string): CustomSource | undefined;
}

/** A declaration of what an instance should be like. Absent fields stay as they are. */
export interface InstancePatch {
  /** Whole virtual CPUs. */
  readonly cpu?: number;
  readonly memoryBytes?: number;
  /**
   * Whether a running VM that can't change its size while it runs is stopped and started for it; otherwise the new size
   * waits.
   */
  readonly restart: boolean;
  /** All tags; others are removed. */
  readonly tags?: readonly string[];
  /** Tags that the instance should have, or not have. */
  readonly tagSwitches?: Readonly<Record<string, boolean>>;
  /** Whether it is protected from deletion. */
  readonly isProtected?: boolean;
  /** Whether it is started with its host. */
  readonly autostart?: boolean;
}

/** The tags that a patch adds (true) and removes (false), sorted. */
export function tagChanges(
  present: readonly string[],
  { tags, tagSwitches = {} }: Pick<InstancePatch, 'tags' | 'tagSwitches'>,
): readonly (readonly [tag: string, on: boolean])[] {
  const wanted = tags
    ? [
        ...tags.map((tag) => [tag, true] as const),
        ...present.flatMap((tag) => (tags.includes(tag) ? [] : [[tag, false] as const])),
      ]
    : Object.entries(tagSwitches);
  return wanted.filter(([tag, on]) => present.includes(tag) !== on).sort(([a], [b]) => (a < b ? -1 : 1));
}

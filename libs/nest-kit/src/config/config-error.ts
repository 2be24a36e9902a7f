/** A configuration that can't be used. Each problem names its key and says what would be right. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  /** @param problems sentences such as «limits.pushers_per_user must be at least 1» */
  constructor(
    readonly source: string,
    readonly problems: readonly string[],
  ) {
    super(`${source}: ${problems.join('; ')}`);
  }
}

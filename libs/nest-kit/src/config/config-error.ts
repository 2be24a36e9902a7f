/** A configuration with errors. Each problem names its key and the values that are valid. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  /** @param problems sentences such as «limits.pushers_per_user must be at least 1» */
  constructor(
    readonly source: string,
    readonly problems: readonly string[],
    options?: ErrorOptions,
  ) {
    super(`${source}: ${problems.join('; ')}`, options);
  }
}

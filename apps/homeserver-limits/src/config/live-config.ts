import { ConfigError } from '@headgate/nest-kit';
import type { Logger } from 'pino';
import { type Config, parseConfig } from './config.js';
import { readNamedFile } from './read-file.js';

/** The sections that can change while the server runs. The others need a restart. */
const RELOADABLE = ['ratelimit', 'limits', 'delayed_events', 'rules', 'deny'] as const;

/** The configuration in force. A reload replaces the reloadable sections, all of them or none. */
export class LiveConfig {
  constructor(
    private config: Config,
    readonly path?: string,
    private readonly log?: Logger,
    /** Applies the command line over the file, also at a reload. */
    private readonly override: (config: Config) => Config = (config) => config,
    /** The text of the file at the start. */
    readonly startText = '',
  ) {}

  /** The text of the last reload; undefined before. */
  latestText?: string;

  get current(): Config {
    return this.config;
  }

  /**
   * Reads the file again. An invalid file changes nothing.
   * @param problemsOf returns why settings that are valid can't be applied while the server runs
   * @returns whether the new settings are in force
   */
  async reload(problemsOf: (config: Config) => readonly string[] = () => []): Promise<boolean> {
    if (this.path === undefined) return false;
    const { path } = this;
    return this.replace(() => readNamedFile(path), problemsOf);
  }

  /** Like `reload`, with a text that is the same in all processes. */
  async replace(read: () => string, problemsOf: (config: Config) => readonly string[] = () => []): Promise<boolean> {
    try {
      const text = read();
      const next = this.override(parseConfig(text, this.path));
      const problems = problemsOf(next);
      if (problems.length > 0) throw new ConfigError(this.path ?? 'configuration', problems);
      this.apply(next);
      this.latestText = text;
      return true;
    } catch (error) {
      const cause = error instanceof ConfigError ? { reason: error.message } : { err: error };
      this.log?.error(
        { ...cause, path: this.path },
        'the configuration could not be reloaded; the previous settings stay in force',
      );
      return false;
    }
  }

  private apply(next: Config): void {
    const nonReloadable = Object.keys(next).filter((name) => !(RELOADABLE as readonly string[]).includes(name));
    const pending = nonReloadable.filter((name) => fingerprint(next, name) !== fingerprint(this.config, name));
    if (pending.length > 0) this.log?.warn({ sections: pending }, 'some changed sections need a restart');
    const { ratelimit, limits, delayed_events, rules, deny } = next;
    this.config = Object.freeze({ ...this.config, ratelimit, limits, delayed_events, rules, deny });
    this.log?.info({ path: this.path }, 'the configuration was reloaded');
  }
}

const fingerprint = (config: Config, name: string): string => JSON.stringify(config[name as keyof Config]);

import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { type Config, parseConfig } from './config.js';

/** What can change while the server runs; everything else waits for a restart. */
const RELOADABLE = ['ratelimit', 'limits', 'delayed_events'] as const;

/** The configuration in force. A reload replaces what may change at run time, all of it or nothing. */
export class LiveConfig {
  constructor(
    private config: Config,
    private readonly path?: string,
    private readonly log?: Logger,
    /** What the command line says goes before the file, at a reload too. */
    private readonly override: (config: Config) => Config = (config) => config,
  ) {}

  get current(): Config {
    return this.config;
  }

  /** Reads the file again; a bad one leaves everything as it is. Answers whether the new settings are in force. */
  async reload(): Promise<boolean> {
    if (this.path === undefined) return false;
    try {
      this.apply(this.override(parseConfig(await readFile(this.path, 'utf8'), this.path)));
      return true;
    } catch (error) {
      this.log?.error({ err: error, path: this.path }, 'the configuration could not be reloaded, the old one stays');
      return false;
    }
  }

  private apply(next: Config): void {
    const fixed = Object.keys(next).filter((name) => !(RELOADABLE as readonly string[]).includes(name));
    const waiting = fixed.filter((name) => fingerprint(next, name) !== fingerprint(this.config, name));
    if (waiting.length > 0) this.log?.warn({ sections: waiting }, 'some changed sections need a restart');
    const { ratelimit, limits, delayed_events } = next;
    this.config = Object.freeze({ ...this.config, ratelimit, limits, delayed_events });
    this.log?.info({ path: this.path }, 'the configuration was reloaded');
  }
}

const fingerprint = (config: Config, name: string): string => JSON.stringify(config[name as keyof Config]);

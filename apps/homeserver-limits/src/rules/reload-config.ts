import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { Caps } from './caps.js';
import { Rules } from './rules.js';

/** Reads the configuration again and applies it to the rules. Reloads run one at a time. */
@Injectable()
export class ReloadConfig {
  private last: Promise<boolean> = Promise.resolve(true);

  constructor(
    private readonly config: LiveConfig,
    private readonly rules: Rules,
    private readonly caps: Caps,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** The file is validated as a whole before any of it applies. Never rejects. @returns whether the new settings are in force */
  run(): Promise<boolean> {
    this.last = this.last.then(() => this.reload());
    return this.last;
  }

  private async reload(): Promise<boolean> {
    try {
      if (!(await this.config.reload(({ rules }) => this.rules.problemsOf(rules)))) return false;
      this.rules.reconfigure();
      this.caps.reconfigure();
      return true;
    } catch (error) {
      this.log.error({ err: error }, 'the reloaded settings could not be applied');
      return false;
    }
  }
}

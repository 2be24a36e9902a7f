import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { Caps } from './caps.js';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { RequestLog } from '../reports/request-log.js';
import { Rules } from './rules.js';

/** Reads the configuration again and applies it to the rules. Reloads run one at a time. */
@Injectable()
export class ReloadConfig {
  private last: Promise<boolean> = Promise.resolve(true);

  constructor(
    private readonly config: LiveConfig,
    private readonly rules: Rules,
    private readonly caps: Caps,
    private readonly metrics: LimitsMetrics,
    @Inject(LOGGER) private readonly log: Logger,
    @Optional() @Inject(RequestLog) private readonly requests?: RequestLog,
  ) {}

  /**
   * The file is validated as a whole before any of it applies. Never rejects.
   * @param text replaces that of the file
   * @returns whether the new settings are in force
   */
  run(text?: string): Promise<boolean> {
    this.last = this.last.then(() => this.reload(text));
    return this.last;
  }

  private async reload(text?: string): Promise<boolean> {
    try {
      this.requests?.reopen();
      const problemsOf = ({ rules }: Config) => this.rules.problemsOf(rules);
      const isInForce = await (text === undefined
        ? this.config.reload(problemsOf)
        : this.config.replace(() => text, problemsOf));
      if (!isInForce) return false;
      this.rules.reconfigure();
      this.metrics.declareRates(this.config.current.rules.rules.map(({ name }) => name));
      this.caps.reconfigure();
      return true;
    } catch (error) {
      this.log.error({ err: error }, 'the reloaded settings could not be applied');
      return false;
    }
  }
}

import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { Caps } from './caps.js';
import { Rates } from './rates.js';

/** Reads the configuration again and applies it to the rules. */
@Injectable()
export class ReloadConfig {
  constructor(
    private readonly config: LiveConfig,
    private readonly rates: Rates,
    private readonly caps: Caps,
  ) {}

  /** @returns whether the new settings are in force */
  async run(): Promise<boolean> {
    if (!(await this.config.reload())) return false;
    this.rates.reconfigure();
    this.caps.reconfigure();
    return true;
  }
}

import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LiveConfig } from './live-config.js';

/** The values that the process starts with. */
export interface Settings {
  readonly config: LiveConfig;
  readonly dataDir: string;
  readonly log: Logger;
}

export const LOGGER = Symbol('Logger');
export const DATA_DIR = Symbol('data directory');

/** Provides the process's settings to every module. */
@Global()
@Module({})
export class SettingsModule {
  static forRoot({ config, dataDir, log }: Settings): DynamicModule {
    const providers = [
      { provide: LiveConfig, useValue: config },
      { provide: DATA_DIR, useValue: dataDir },
      { provide: LOGGER, useValue: log },
    ];
    return { module: SettingsModule, providers, exports: providers };
  }
}

import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { MAIN_LINK, type MainLink } from '../link/protocol.js';
import { LiveConfig } from './live-config.js';

/** The values that the process starts with. */
export interface Settings {
  readonly config: LiveConfig;
  readonly dataDir: string;
  readonly log: Logger;
  /** In a worker: the way to the main process. */
  readonly main?: MainLink;
}

export const LOGGER = Symbol('Logger');
export const DATA_DIR = Symbol('data directory');

/** Provides the process's settings to every module. */
@Global()
@Module({})
export class SettingsModule {
  static forRoot({ config, dataDir, log, main }: Settings): DynamicModule {
    const providers = [
      { provide: LiveConfig, useValue: config },
      { provide: DATA_DIR, useValue: dataDir },
      { provide: LOGGER, useValue: log },
      { provide: MAIN_LINK, useFactory: () => main },
    ];
    return { module: SettingsModule, providers, exports: providers };
  }
}

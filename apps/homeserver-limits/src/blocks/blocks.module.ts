import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { LiveConfig } from '../config/live-config.js';
import { LOGGER } from '../config/settings.module.js';
import { firstLineOf } from '../config/shared-secret.js';
import { AddressBlocks } from '../state/address-blocks.js';
import { AlertSender } from './alert-sender.js';
import { CrowdsecAlerts } from './crowdsec-alerts.js';

function alertsOf({ current }: LiveConfig, blocks: AddressBlocks | undefined): CrowdsecAlerts | undefined {
  const { crowdsec: url, machine = '', password_file = '' } = current.blocks;
  if (url === undefined || blocks === undefined) return undefined;
  return new CrowdsecAlerts({ url, machine, password: () => firstLineOf(password_file), blocks });
}

/** The blocks of addresses on their way to CrowdSec. In a worker, there are none. */
@Module({
  providers: [
    {
      provide: AlertSender,
      useFactory: (config: LiveConfig, log: Logger, blocks?: AddressBlocks) =>
        new AlertSender(alertsOf(config, blocks), log),
      inject: [LiveConfig, LOGGER, AddressBlocks],
    },
  ],
})
export class BlocksModule {}

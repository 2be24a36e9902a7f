import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import type { CrowdsecAlerts } from './crowdsec-alerts.js';

const INTERVAL_MS = 1_000;
const RETRY_MS = 10_000;

/** Sends the blocks soon after they begin or end. Without the local API, they wait. */
export class AlertSender implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private hasFailed = false;
  private isStopped = false;

  /** @param alerts undefined: nothing is sent */
  constructor(
    private readonly alerts: Pick<CrowdsecAlerts, 'push'> | undefined,
    private readonly log: Pick<Logger, 'info' | 'error'>,
  ) {}

  onApplicationBootstrap(): void {
    if (this.alerts) this.sendAfter(0, this.alerts);
  }

  onApplicationShutdown(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private sendAfter(delayMs: number, alerts: Pick<CrowdsecAlerts, 'push'>): void {
    this.timer = setTimeout(() => void this.send(alerts), delayMs).unref();
  }

  private async send(alerts: Pick<CrowdsecAlerts, 'push'>): Promise<void> {
    try {
      const hasSent = await alerts.push();
      if (this.hasFailed && hasSent) this.log.info('the blocks were sent to CrowdSec again');
      if (hasSent) this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed)
        this.log.error({ err: error }, 'the blocks could not be sent to CrowdSec; they are sent later');
      this.hasFailed = true;
    }
    if (!this.isStopped) this.sendAfter(this.hasFailed ? RETRY_MS : INTERVAL_MS, alerts);
  }
}

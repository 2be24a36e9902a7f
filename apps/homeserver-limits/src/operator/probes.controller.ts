import { MatrixError } from '@headgate/matrix-protocol';
import { Controller, Get, Header } from '@nestjs/common';
import { LimitsMetrics } from '../metrics/limits-metrics.js';
import { Public } from './operator.guard.js';

/** Whether the listener for clients accepts requests. */
export abstract class Readiness {
  abstract readonly isReady: boolean;
}

/** What orchestrators and Prometheus ask. */
@Controller()
export class ProbesController {
  constructor(
    private readonly readiness: Readiness,
    private readonly metrics: LimitsMetrics,
  ) {}

  /** The process responds. */
  @Public()
  @Get('healthz')
  live() {
    return { status: 'ok' };
  }

  /**
   * Requests of clients are accepted. A homeserver that is down does not make its gateway unready: callers receive its
   * 502.
   */
  @Public()
  @Get('readyz')
  ready() {
    if (!this.readiness.isReady) throw new MatrixError(503, 'M_UNKNOWN', 'The listener for clients is not open.');
    return { status: 'ready' };
  }

  @Get('metrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  expose(): Promise<string> {
    return this.metrics.text();
  }
}

import { Controller, Get, Header } from '@nestjs/common';
import { LimitsMetrics } from './limits-metrics.js';

export const METRICS_PATH = '/metrics';

@Controller()
export class MetricsController {
  constructor(private readonly metrics: LimitsMetrics) {}

  @Get(METRICS_PATH)
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  expose(): Promise<string> {
    return this.metrics.text();
  }
}

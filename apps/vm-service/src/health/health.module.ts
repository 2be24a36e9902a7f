import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { StoreModule } from '../store/store.module.js';
import { HealthController } from './health.controller.js';
import { ReadinessGuard } from './readiness.guard.js';

/** The probes, and no change before the service is ready. */
@Module({
  imports: [StoreModule],
  controllers: [HealthController],
  providers: [{ provide: APP_GUARD, useClass: ReadinessGuard }],
})
export class HealthModule {}

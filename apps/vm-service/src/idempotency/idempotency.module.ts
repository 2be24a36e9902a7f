import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { Clock, Replicas, ReplyStore, type Log } from '@headgate/domain-contracts';
import { provideClass } from '../platform/provide-class.js';
import { LOGGER } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { ExpiredKeys } from './expired-keys.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { KeyedRequests } from './keyed-requests.js';

/** Requests with an idempotency key, which are carried out once. */
@Module({
  imports: [StoreModule],
  providers: [
    provideClass(ExpiredKeys, [ReplyStore, Replicas, Clock, LOGGER]),
    {
      provide: KeyedRequests,
      inject: [ReplyStore, Replicas, Clock, LOGGER],
      useFactory: (store: ReplyStore, replicas: Replicas, clock: Clock, log: Log) =>
        new KeyedRequests({ store, replicas, clock, log }),
    },
    { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
  ],
})
export class IdempotencyModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(private readonly expired: ExpiredKeys) {}

  onApplicationBootstrap(): void {
    this.expired.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.expired.close();
  }
}

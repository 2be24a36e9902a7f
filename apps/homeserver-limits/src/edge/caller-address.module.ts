import { Module } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { CallerAddress } from './caller-address.js';

/** Who a request comes from, for the edge and for the headers to the upstream. */
@Module({
  providers: [
    {
      provide: CallerAddress,
      useFactory: ({ current: { server } }: LiveConfig) =>
        new CallerAddress(server.trusted_proxies, server.ipv6_prefix),
      inject: [LiveConfig],
    },
  ],
  exports: [CallerAddress],
})
export class CallerAddressModule {}

import { Homeserver, PathTable } from '@headgate/homeserver-contracts';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import type { Logger } from 'pino';
import { Bounds } from '../bounds/bounds.js';
import { LOGGER } from '../config/settings.module.js';
import { CallerAddress } from './caller-address.js';
import { CallerAddressModule } from './caller-address.module.js';
import { ConnectionDrain } from './connection-drain.js';
import { Dispatcher } from './dispatcher.js';
import { MatrixController } from './matrix.controller.js';

/** Takes requests in and writes responses. */
@Module({})
export class EdgeModule {
  /** @param homeserver exports `Homeserver` and the `PathTable` of its operations; @param bounds exports `Bounds` */
  static over(homeserver: Type, bounds: DynamicModule): DynamicModule {
    return {
      module: EdgeModule,
      imports: [homeserver, bounds, CallerAddressModule],
      controllers: [MatrixController],
      providers: [
        ConnectionDrain,
        {
          provide: Dispatcher,
          useFactory: (
            table: PathTable<string>,
            registry: Bounds,
            backend: Homeserver,
            addresses: CallerAddress,
            log: Logger,
          ) => new Dispatcher({ table, bounds: registry, homeserver: backend, addresses, log }),
          inject: [PathTable, Bounds, Homeserver, CallerAddress, LOGGER],
        },
      ],
    };
  }
}

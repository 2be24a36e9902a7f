import { Module, type BeforeApplicationShutdown } from '@nestjs/common';
import { ConsoleBroker } from '@headgate/consoles';
import { Clock, InstanceDirectory } from '@headgate/domain-contracts';
import { AccessModule } from '../access/access.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { ConsoleRequests } from './console-request.js';
import { TtyGateway } from './tty.gateway.js';
import { VncGateway } from './vnc.gateway.js';

/** Screens, serial consoles and shells over WebSockets. */
@Module({
  imports: [AccessModule, FleetModule, IdentityModule],
  providers: [provideClass(ConsoleBroker, [InstanceDirectory, Clock]), ConsoleRequests, VncGateway, TtyGateway],
})
export class ConsolesModule implements BeforeApplicationShutdown {
  constructor(private readonly broker: ConsoleBroker) {}

  beforeApplicationShutdown(): void {
    this.broker.close();
  }
}

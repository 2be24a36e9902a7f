import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { ConsolesModule } from '../consoles/consoles.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { StoreModule } from '../store/store.module.js';
import { PortConnections } from './port-connections.js';
import { PortRequests } from './port-request.js';
import { PortGateway } from './port.gateway.js';
import { PortsController } from './ports.controller.js';

/** Connections to TCP ports of guests over WebSockets. */
@Module({
  imports: [AccessModule, StoreModule, FleetModule, IdentityModule, ConsolesModule],
  controllers: [PortsController],
  providers: [PortConnections, PortRequests, PortGateway],
})
export class PortsModule {}

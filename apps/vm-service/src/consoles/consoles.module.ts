import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { ConsoleBroker, ScreenPictures } from '@headgate/consoles';
import { Clock, InstanceDirectory, Replicas } from '@headgate/domain-contracts';
import { AccessModule } from '../access/access.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { ConsoleOwners } from './console-owners.js';
import { ConsoleRequests } from './console-request.js';
import { ConsoleWatchers } from './console-watchers.js';
import { ConsolesController } from './consoles.controller.js';
import { TtyGateway } from './tty.gateway.js';
import { VncGateway } from './vnc.gateway.js';

/** Another replica may own the consoles from then on. */
const LOST = 'This replica no longer reaches the store of the cluster; connect again.';

/** Screens, serial consoles and shells over WebSockets, pictures of screens, and who watches. */
@Module({
  imports: [AccessModule, StoreModule, FleetModule, IdentityModule],
  controllers: [ConsolesController],
  providers: [
    provideClass(ConsoleBroker, [InstanceDirectory, Clock]),
    provideClass(ScreenPictures, [ConsoleBroker, Clock]),
    ConsoleOwners,
    ConsoleWatchers,
    ConsoleRequests,
    VncGateway,
    TtyGateway,
  ],
  exports: [ConsoleRequests],
})
export class ConsolesModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly broker: ConsoleBroker,
    private readonly replicas: Replicas,
  ) {}

  onApplicationBootstrap(): void {
    this.unsubscribe = this.replicas.subscribe({ left: () => this.broker.close(LOST) });
  }

  beforeApplicationShutdown(): void {
    this.unsubscribe?.();
    this.broker.close();
  }
}

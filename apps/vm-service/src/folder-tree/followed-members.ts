import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock, type Log } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { Folders, SettleMembers } from '@headgate/folders';
import { LOGGER } from '../platform/tokens.js';

/**
 * Settles the members of the folders whenever the fleet shows that a context was listed, or that an instance is gone.
 */
@Injectable()
export class FollowedMembers implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly settlement: SettleMembers;
  private unsubscribe = (): void => undefined;

  constructor(
    private readonly fleet: FleetReader,
    folders: Folders,
    clock: Clock,
    @Inject(LOGGER) log: Log,
  ) {
    const isListed = (context: string): boolean =>
      this.fleet.states().some((one) => one.context === context && one.state === 'up');
    this.settlement = new SettleMembers({ folders, directory: fleet, isListed, clock, log });
  }

  onApplicationBootstrap(): void {
    this.settlement.open();
    this.unsubscribe = this.fleet.subscribe(({ type }) => {
      if (type !== 'changed') this.settlement.settle();
    });
    this.settlement.settle();
  }

  beforeApplicationShutdown(): void {
    this.unsubscribe();
    this.settlement.close();
  }
}

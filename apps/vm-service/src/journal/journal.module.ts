import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AuditLog } from '@headgate/domain-contracts';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { CONTEXTS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { AccessModule } from '../access/access.module.js';
import { ActivityController } from './activity.controller.js';
import { ExportJournal } from './export-journal.js';
import { JournalController } from './journal.controller.js';
import { JournalFeed } from './journal-feed.js';
import { JournalStreamsController } from './journal-streams.controller.js';
import { ReadActivity } from './read-activity.js';
import { RequestRecorder } from './request-recorder.js';

/**
 * The audit log of the whole fleet, and the requests that belong into it. The past of simulated instances is in it
 * while the service runs; what a killed service has left is replaced or removed at the next start.
 */
@Module({
  imports: [StoreModule, AccessModule, FleetModule, IdentityModule],
  controllers: [JournalController, JournalStreamsController, ActivityController],
  providers: [RequestRecorder, ReadActivity, JournalFeed, ExportJournal],
  exports: [ReadActivity],
})
export class JournalModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    private readonly log: AuditLog,
    @Inject(CONTEXTS) private readonly contexts: Pick<ChosenContexts, 'simulatedPast'>,
  ) {}

  onApplicationBootstrap(): void {
    this.log.replaceSimulated(this.contexts.simulatedPast ?? []);
  }

  onApplicationShutdown(): void {
    this.log.replaceSimulated([]);
  }
}

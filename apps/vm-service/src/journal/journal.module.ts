import {
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
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
import { JournalSyslog } from './journal-syslog.js';
import { ReadActivity } from './read-activity.js';
import { RequestRecorder } from './request-recorder.js';

/**
 * The audit log of the whole fleet, and the requests that belong into it. The past of simulated instances is in it
 * while the service runs; what a killed service has left is replaced or removed at the next start.
 */
@Module({
  imports: [StoreModule, AccessModule, FleetModule, IdentityModule],
  controllers: [JournalController, JournalStreamsController, ActivityController],
  providers: [RequestRecorder, ReadActivity, JournalFeed, ExportJournal, JournalSyslog],
  exports: [ReadActivity, JournalSyslog],
})
export class JournalModule implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    private readonly log: AuditLog,
    private readonly syslog: JournalSyslog,
    @Inject(CONTEXTS) private readonly contexts: Pick<ChosenContexts, 'simulatedPast'>,
  ) {}

  onApplicationBootstrap(): void {
    this.log.replaceSimulated(this.contexts.simulatedPast ?? []);
    // Behind the invented entries, which are not sent.
    this.syslog.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.syslog.stop();
  }

  onApplicationShutdown(): void {
    this.log.replaceSimulated([]);
  }
}

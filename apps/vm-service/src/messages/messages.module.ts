import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import {
  Audit,
  Clock,
  MessageChannelStore,
  MessageRuleStore,
  Replicas,
  ScheduleStore,
  WebhookStore,
  type MessageRule,
} from '@headgate/domain-contracts';
import { EgressPolicy } from '@headgate/downloads';
import { FleetReader } from '@headgate/fleet';
import {
  CreateChannel,
  CreateRule,
  DeleteChannel,
  DeleteRule,
  MessageDispatcher,
  MessageOwners,
  MessageSender,
  MessageSources,
  MessageTimes,
  TestChannel,
  UpdateChannel,
  UpdateRule,
  type RuleDeps,
} from '@headgate/messages';
import { TaskBoard } from '@headgate/tasks';
import { WebhookSender } from '@headgate/webhooks';
import type { Settings } from '../config/load-config.js';
import { DoctorModule } from '../doctor/doctor.module.js';
import { ReadChecks } from '../doctor/read-checks.js';
import { parseListQuery } from '../fleet/compile-list-query.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { Admission } from '../identity/admission.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { LOGGER, SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { ChannelSender } from './channel-sender.js';
import { DigestTimes } from './digest-times.js';
import { FailedWorkLog } from './failed-work.js';
import { FailingInstances } from './failing-instances.js';
import { FleetMessageSources } from './fleet-message-sources.js';
import { MailSender } from './mail-sender.js';
import { MessageChannelsController } from './message-channels.controller.js';
import { MessageRulesController } from './message-rules.controller.js';

const CHANNELS = {
  channels: MessageChannelStore,
  rules: MessageRuleStore,
  sender: MessageSender,
  dispatcher: MessageDispatcher,
  clock: Clock,
  audit: Audit,
} as const;

/** Injects the check of the query of a rule. */
const EXPECT_QUERY = Symbol('EXPECT_QUERY');

const RULES = {
  rules: MessageRuleStore,
  channels: MessageChannelStore,
  dispatcher: MessageDispatcher,
  times: MessageTimes,
  clock: Clock,
  audit: Audit,
  expectQuery: EXPECT_QUERY,
} as const;

/** Messages to people about problems. They begin when the instances are known. */
@Module({
  imports: [StoreModule, FleetModule, TasksModule, IdentityModule, DoctorModule, WebhooksModule],
  controllers: [MessageChannelsController, MessageRulesController],
  providers: [
    {
      provide: MailSender,
      inject: [SETTINGS, Clock],
      useFactory: ({ webhookAllow }: Settings, clock: Clock) =>
        new MailSender({
          egress: new EgressPolicy({ allow: webhookAllow, setting: 'SVC_WEBHOOK_ALLOW' }),
          clock,
        }),
    },
    provideDeps(ChannelSender, { mail: MailSender, webhookStore: WebhookStore, http: WebhookSender, clock: Clock }),
    { provide: MessageSender, useExisting: ChannelSender },
    { provide: MessageTimes, useClass: DigestTimes },
    {
      provide: MessageOwners,
      inject: [Admission],
      useFactory: (admission: Admission): MessageOwners => ({
        callerOf: ({ owner: login, token }: Pick<MessageRule, 'owner' | 'token'>) =>
          admission.ofOwner({ login, token }),
      }),
    },
    provideClass(FailingInstances, [FleetReader]),
    provideClass(FailedWorkLog, [TaskBoard, ScheduleStore, Clock]),
    provideDeps(FleetMessageSources, {
      fleet: FleetReader,
      failing: FailingInstances,
      work: FailedWorkLog,
      checks: ReadChecks,
      log: LOGGER,
    }),
    { provide: MessageSources, useExisting: FleetMessageSources },
    provideDeps(MessageDispatcher, {
      rules: MessageRuleStore,
      channels: MessageChannelStore,
      sources: MessageSources,
      owners: MessageOwners,
      sender: MessageSender,
      times: MessageTimes,
      replicas: Replicas,
      clock: Clock,
      log: LOGGER,
    }),
    { provide: EXPECT_QUERY, useValue: ((q) => void parseListQuery(q)) satisfies RuleDeps['expectQuery'] },
    provideDeps(CreateChannel, CHANNELS),
    provideDeps(UpdateChannel, CHANNELS),
    provideDeps(DeleteChannel, CHANNELS),
    provideDeps(TestChannel, CHANNELS),
    provideDeps(CreateRule, RULES),
    provideDeps(UpdateRule, RULES),
    provideDeps(DeleteRule, RULES),
  ],
})
export class MessagesModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private isClosed = false;

  constructor(
    private readonly dispatcher: MessageDispatcher,
    private readonly fleet: FleetReader,
  ) {}

  onApplicationBootstrap(): void {
    // The first list of a slow context must not delay the start.
    void this.fleet.whenSynced().then(() => {
      if (!this.isClosed) this.dispatcher.start();
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    await this.dispatcher.close();
  }
}

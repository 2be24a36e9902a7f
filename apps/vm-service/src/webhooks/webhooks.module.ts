import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Audit, Clock, Replicas, WebhookStore, type Log } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { EgressPolicy } from '@headgate/downloads';
import { TaskBoard } from '@headgate/tasks';
import {
  CreateWebhook,
  DeleteWebhook,
  ReplayWebhook,
  WebhookDispatcher,
  WebhookSender,
  type WebhookDeps,
} from '@headgate/webhooks';
import type { Settings } from '../config/load-config.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { LOGGER, SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { Announcements } from './announcements.js';
import { HttpWebhookSender } from './http-webhook-sender.js';
import { WebhooksController } from './webhooks.controller.js';

const DEPS = Symbol('WEBHOOK_DEPS');

/** Messages to other services about changes and ended tasks. */
@Module({
  imports: [StoreModule, TasksModule, FleetModule, IdentityModule],
  controllers: [WebhooksController],
  providers: [
    {
      provide: WebhookSender,
      inject: [SETTINGS, Clock],
      useFactory: ({ webhookAllow }: Settings, clock: Clock) =>
        new HttpWebhookSender(new EgressPolicy({ allow: webhookAllow, setting: 'SVC_WEBHOOK_ALLOW' }), clock),
    },
    {
      provide: WebhookDispatcher,
      inject: [WebhookStore, WebhookSender, Clock, LOGGER, Replicas],
      useFactory: (store: WebhookStore, sender: WebhookSender, clock: Clock, log: Log, replicas: Replicas) =>
        new WebhookDispatcher({ store, sender, clock, log, replicas }),
    },
    {
      provide: DEPS,
      inject: [WebhookStore, WebhookDispatcher, WebhookSender, Clock, Audit],
      useFactory: (
        store: WebhookStore,
        dispatcher: WebhookDispatcher,
        sender: WebhookSender,
        clock: Clock,
        audit: Audit,
      ): WebhookDeps => ({ store, dispatcher, sender, clock, audit }),
    },
    provideClass(CreateWebhook, [DEPS]),
    provideClass(DeleteWebhook, [DEPS]),
    provideClass(ReplayWebhook, [DEPS]),
    provideClass(Announcements, [FleetReader, WebhookDispatcher]),
  ],
})
export class WebhooksModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly dispatcher: WebhookDispatcher,
    private readonly announcements: Announcements,
    private readonly tasks: TaskBoard,
  ) {}

  onApplicationBootstrap(): void {
    this.dispatcher.start();
    this.tasks.onEnd((task) => this.announcements.taskEnded(task));
    // The first list of a slow context must not delay the start.
    void this.announcements.start();
  }

  beforeApplicationShutdown(): void {
    this.announcements.stop();
    this.dispatcher.close();
  }
}

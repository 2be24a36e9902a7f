import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Audit, Clock, Replicas, WebhookStore } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { EgressPolicy } from '@headgate/downloads';
import { TaskBoard } from '@headgate/tasks';
import {
  CreateWebhook,
  DeleteWebhook,
  ReplayWebhook,
  RotateWebhook,
  WebhookDispatcher,
  WebhookSender,
} from '@headgate/webhooks';
import type { Settings } from '../config/load-config.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { LOGGER, SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { Announcements } from './announcements.js';
import { HttpWebhookSender } from './http-webhook-sender.js';
import { WebhooksController } from './webhooks.controller.js';

const DEPS = {
  store: WebhookStore,
  dispatcher: WebhookDispatcher,
  sender: WebhookSender,
  clock: Clock,
  audit: Audit,
} as const;

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
    provideDeps(WebhookDispatcher, {
      store: WebhookStore,
      sender: WebhookSender,
      clock: Clock,
      log: LOGGER,
      replicas: Replicas,
    }),
    provideDeps(CreateWebhook, DEPS),
    provideDeps(DeleteWebhook, DEPS),
    provideDeps(ReplayWebhook, DEPS),
    provideDeps(RotateWebhook, { store: WebhookStore, clock: Clock, audit: Audit }),
    provideClass(Announcements, [FleetReader, WebhookDispatcher]),
  ],
  exports: [WebhookSender],
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

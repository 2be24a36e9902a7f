import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Roles } from '@headgate/access';
import { Audit, Clock, InstanceDirectory, Replicas, WebhookStore } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { EgressPolicy } from '@headgate/downloads';
import { TaskBoard } from '@headgate/tasks';
import {
  ChangeWebhook,
  CreateWebhook,
  DeleteWebhook,
  ReplayWebhook,
  RotateWebhook,
  TestWebhook,
  WebhookDispatcher,
  WebhookRights,
  WebhookSender,
} from '@headgate/webhooks';
import { AccessModule } from '../access/access.module.js';
import type { Settings } from '../config/load-config.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { Admission } from '../identity/admission.js';
import { IdentityModule } from '../identity/identity.module.js';
import { InstanceAccess } from '../identity/instance-access.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { LOGGER, SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { withMembers } from '../tasks/with-members.js';
import { Announcements } from './announcements.js';
import { FleetWebhookRights } from './fleet-webhook-rights.js';
import { HttpWebhookSender } from './http-webhook-sender.js';
import { WebhooksController } from './webhooks.controller.js';

const DEPS = {
  store: WebhookStore,
  dispatcher: WebhookDispatcher,
  sender: WebhookSender,
  rights: WebhookRights,
  clock: Clock,
  audit: Audit,
} as const;

/** Messages to other services about changes and ended tasks. */
@Module({
  imports: [AccessModule, StoreModule, TasksModule, FleetModule, IdentityModule],
  controllers: [WebhooksController],
  providers: [
    {
      provide: WebhookSender,
      inject: [SETTINGS, Clock],
      useFactory: ({ webhookAllow }: Settings, clock: Clock) =>
        new HttpWebhookSender(new EgressPolicy({ allow: webhookAllow, setting: 'SVC_WEBHOOK_ALLOW' }), clock),
    },
    provideClass(FleetWebhookRights, [Admission, InstanceDirectory, InstanceAccess], WebhookRights),
    provideDeps(WebhookDispatcher, {
      store: WebhookStore,
      sender: WebhookSender,
      rights: WebhookRights,
      clock: Clock,
      log: LOGGER,
      replicas: Replicas,
    }),
    provideDeps(CreateWebhook, DEPS),
    provideDeps(ChangeWebhook, DEPS),
    provideDeps(DeleteWebhook, DEPS),
    provideDeps(ReplayWebhook, DEPS),
    provideDeps(RotateWebhook, { store: WebhookStore, clock: Clock, audit: Audit }),
    provideDeps(TestWebhook, DEPS),
    provideClass(Announcements, [FleetReader, WebhookDispatcher]),
  ],
  exports: [WebhookSender],
})
export class WebhooksModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private stopRoles = (): void => undefined;

  constructor(
    private readonly dispatcher: WebhookDispatcher,
    private readonly announcements: Announcements,
    private readonly tasks: TaskBoard,
    private readonly roles: Roles,
  ) {}

  onApplicationBootstrap(): void {
    this.dispatcher.start();
    // A creator who may read nothing any more is found without an event.
    this.stopRoles = this.roles.subscribe(() => this.dispatcher.reload());
    this.tasks.onEnd((task) => this.announcements.taskEnded(withMembers(this.tasks, task)));
    // The first list of a slow context must not delay the start.
    void this.announcements.start();
  }

  beforeApplicationShutdown(): void {
    this.stopRoles();
    this.announcements.stop();
    this.dispatcher.close();
  }
}

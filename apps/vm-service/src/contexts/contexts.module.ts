import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { AddedContextStore, Audit, Clock, Reservations, type Log } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import { ContextTargets } from '../composition/context-targets.js';
import { AddedContexts } from '../fleet/added-contexts.js';
import { Backends } from '../fleet/backends.js';
import { BackendsModule } from '../fleet/backends.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { LiveContexts } from '../fleet/live-contexts.js';
import { CallerIdentity } from '../identity/caller-identity.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { CONTEXTS, LOGGER, SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { AddContext } from './add-context.js';
import { AddingRights } from './adding-rights.js';
import { ChangeContext } from './change-context.js';
import { ChangeableContexts } from './changeable-contexts.js';
import { ContextTests } from './context-tests.js';
import { ContextsController } from './contexts.controller.js';
import { ReadContexts } from './read-contexts.js';
import { RemoveContext } from './remove-context.js';
import { TestContext } from './test-context.js';

/** Contexts that administrators list, test, add, change and remove while the service runs. */
@Module({
  imports: [StoreModule, BackendsModule, FleetModule, IdentityModule],
  controllers: [ContextsController],
  providers: [
    ReadContexts,
    provideClass(AddingRights, [CallerIdentity, AddedContexts, SETTINGS]),
    {
      provide: ContextTests,
      inject: [CONTEXTS, ContextTargets, Clock, ReadContexts],
      useFactory: ({ opener }: ChosenContexts, targets: ContextTargets, clock: Clock, contexts: ReadContexts) =>
        new ContextTests({ opener, targets, clock, known: () => contexts.all() }),
    },
    provideClass(TestContext, [AddedContexts, ContextTests, Audit]),
    {
      provide: AddContext,
      inject: [AddedContextStore, AddedContexts, Backends, LiveContexts, ContextTests, Audit, Clock],
      useFactory: (
        store: AddedContextStore,
        added: AddedContexts,
        backends: Backends,
        live: LiveContexts,
        tests: ContextTests,
        audit: Audit,
        clock: Clock,
      ) => new AddContext({ store, added, backends, live, tests, audit, clock }),
    },
    provideClass(ChangeableContexts, [AddedContexts, Backends, Reservations]),
    provideDeps(ChangeContext, {
      store: AddedContextStore,
      added: AddedContexts,
      changeable: ChangeableContexts,
      live: LiveContexts,
      tests: ContextTests,
      audit: Audit,
      clock: Clock,
    }),
    {
      provide: RemoveContext,
      inject: [
        AddedContextStore,
        AddedContexts,
        ChangeableContexts,
        LiveContexts,
        FleetReader,
        CONTEXTS,
        Audit,
        LOGGER,
      ],
      useFactory: (
        store: AddedContextStore,
        added: AddedContexts,
        changeable: ChangeableContexts,
        live: LiveContexts,
        fleet: FleetReader,
        { opener }: ChosenContexts,
        audit: Audit,
        log: Log,
      ) => new RemoveContext({ store, added, changeable, live, fleet, opener, audit, log }),
    },
  ],
})
export class ContextsModule implements OnApplicationBootstrap {
  constructor(private readonly tests: ContextTests) {}

  onApplicationBootstrap(): Promise<void> {
    return this.tests.removeLeftovers();
  }
}

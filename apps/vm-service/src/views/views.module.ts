import { Module } from '@nestjs/common';
import { Audit, Clock, SavedViewStore } from '@headgate/domain-contracts';
import { DeleteView, SaveView, UpdateView } from '@headgate/instances';
import { IdentityModule } from '../identity/identity.module.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { ViewsController } from './views.controller.js';

const VIEWS = { store: SavedViewStore, clock: Clock, audit: Audit } as const;

/** The views that users have saved. */
@Module({
  imports: [StoreModule, IdentityModule],
  controllers: [ViewsController],
  providers: [provideDeps(SaveView, VIEWS), provideDeps(UpdateView, VIEWS), provideDeps(DeleteView, VIEWS)],
})
export class ViewsModule {}

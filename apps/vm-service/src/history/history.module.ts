import { Module } from '@nestjs/common';
import { FleetModule } from '../fleet/fleet.module.js';
import { StoreModule } from '../store/store.module.js';
import { ChangesController } from './changes.controller.js';
import { ReadChanges } from './read-changes.js';

/** What has changed in the lists. The lists as of a moment are those of the fleet. */
@Module({ imports: [FleetModule, StoreModule], controllers: [ChangesController], providers: [ReadChanges] })
export class HistoryModule {}

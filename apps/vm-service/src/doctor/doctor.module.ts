import { Module } from '@nestjs/common';
import { CheckBackends, FixBackends } from '@headgate/doctor';
import { Audit, BackendDirectory } from '@headgate/domain-contracts';
import { FleetModule } from '../fleet/fleet.module.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { DoctorController } from './doctor.controller.js';
import { ReadChecks } from './read-checks.js';

/** Checks of the backends and their fixes. */
@Module({
  imports: [FleetModule, StoreModule, PluginsModule],
  controllers: [DoctorController],
  providers: [
    provideClass(CheckBackends, [BackendDirectory]),
    ReadChecks,
    provideClass(FixBackends, [BackendDirectory, CheckBackends, Audit]),
  ],
  exports: [ReadChecks],
})
export class DoctorModule {}

import { Module } from '@nestjs/common';
import { CheckBackends, FindingHistory, FixBackends, FixCheck } from '@headgate/doctor';
import { Audit, BackendDirectory, Clock } from '@headgate/domain-contracts';
import { CertificatesModule } from '../certificates/certificates.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { JournalModule } from '../journal/journal.module.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { DoctorController } from './doctor.controller.js';
import { FindingsController } from './findings.controller.js';
import { ListenerCheck } from './listener-check.js';
import { ReadChecks } from './read-checks.js';

/** Checks of the backends and their fixes. */
@Module({
  imports: [FleetModule, StoreModule, PluginsModule, CertificatesModule, JournalModule],
  controllers: [DoctorController, FindingsController],
  providers: [
    provideClass(CheckBackends, [BackendDirectory]),
    provideClass(FindingHistory, [Clock]),
    ListenerCheck,
    ReadChecks,
    provideClass(FixBackends, [BackendDirectory, CheckBackends, Audit]),
    provideClass(FixCheck, [BackendDirectory, CheckBackends, Audit]),
  ],
  exports: [ReadChecks],
})
export class DoctorModule {}

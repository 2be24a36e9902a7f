import { Module } from '@nestjs/common';
import { expectMembersAllowed } from '@headgate/access';
import { InstanceDirectory } from '@headgate/domain-contracts';
import {
  ApplyContainerPower,
  ApplyPower,
  DeleteContainer,
  DeleteVm,
  InstanceActions,
  MemberReadiness,
  MigrateVm,
  TagVm,
} from '@headgate/instances';
import { ContainersModule } from '../containers/containers.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { InstancesModule } from '../instances/instances.module.js';

/** The actions on single instances, for work on many of them: bulk tasks and folders. */
@Module({
  imports: [FleetModule, InstancesModule, ContainersModule],
  providers: [
    {
      provide: InstanceActions,
      inject: [ApplyPower, ApplyContainerPower, MigrateVm, TagVm, DeleteVm, DeleteContainer, InstanceDirectory],
      useFactory: (
        applyPower: ApplyPower,
        applyContainerPower: ApplyContainerPower,
        migrateVm: MigrateVm,
        tagVm: TagVm,
        deleteVm: DeleteVm,
        deleteContainer: DeleteContainer,
        directory: InstanceDirectory,
      ) =>
        new InstanceActions(
          { applyPower, applyContainerPower, migrateVm, tagVm, deleteVm, deleteContainer },
          ({ grant }, action, ref) => expectMembersAllowed(grant, action, [ref]),
          new MemberReadiness(directory),
        ),
    },
  ],
  exports: [InstanceActions],
})
export class InstanceActionsModule {}

import { Module } from '@nestjs/common';
import { expectMembersAllowed } from '@headgate/access';
import {
  ApplyContainerPower,
  ApplyPower,
  DeleteContainer,
  DeleteVm,
  InstanceActions,
  MigrateVm,
  TagVm,
} from '@headgate/instances';
import { ContainersModule } from '../containers/containers.module.js';
import { InstancesModule } from '../instances/instances.module.js';

/** The actions on single instances, for work on many of them: bulk tasks and folders. */
@Module({
  imports: [InstancesModule, ContainersModule],
  providers: [
    {
      provide: InstanceActions,
      inject: [ApplyPower, ApplyContainerPower, MigrateVm, TagVm, DeleteVm, DeleteContainer],
      useFactory: (
        applyPower: ApplyPower,
        applyContainerPower: ApplyContainerPower,
        migrateVm: MigrateVm,
        tagVm: TagVm,
        deleteVm: DeleteVm,
        deleteContainer: DeleteContainer,
      ) =>
        new InstanceActions(
          { applyPower, applyContainerPower, migrateVm, tagVm, deleteVm, deleteContainer },
          ({ grant }, action, ref) => expectMembersAllowed(grant, action, [ref]),
        ),
    },
  ],
  exports: [InstanceActions],
})
export class InstanceActionsModule {}

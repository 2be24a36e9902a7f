import { Module } from '@nestjs/common';
import { Audit, InstanceDirectory, Reservations } from '@headgate/domain-contracts';
import { CreateFolder, Folders, MoveFolder, RemoveFolder, RunFolderAction } from '@headgate/folders';
import { InstanceActions } from '@headgate/instances';
import { InstanceActionsModule } from '../bulk/instance-actions.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { FollowedMembers } from '../folder-tree/followed-members.js';
import { FoldersController } from './folders.controller.js';
import { ReadFolders } from './read-folders.js';

/** Folders over the instances of all contexts: the tree, its changes, actions on all members. */
@Module({
  imports: [StoreModule, FolderTreeModule, FleetModule, InstanceActionsModule],
  controllers: [FoldersController],
  providers: [
    ReadFolders,
    FollowedMembers,
    provideClass(CreateFolder, [Folders, Audit]),
    provideClass(RemoveFolder, [Folders, Audit]),
    provideClass(MoveFolder, [Folders, Audit]),
    provideClass(RunFolderAction, [Folders, InstanceDirectory, InstanceActions, Reservations]),
  ],
  exports: [ReadFolders],
})
export class FoldersModule {}

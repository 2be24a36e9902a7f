import { Injectable } from '@nestjs/common';
import { Folders } from '@headgate/folders';
import { MemberFolders } from '@headgate/moves';

/** The folders of the service. */
@Injectable()
export class TreeMemberFolders extends MemberFolders {
  constructor(private readonly folders: Folders) {
    super();
  }

  override folderOf(ref: string): string | undefined {
    return this.folders.folderOf(ref);
  }

  override assign(ref: string, path: string): Promise<void> {
    return this.folders.change((tree) => tree.assign(ref, path));
  }

  override async unassign(ref: string): Promise<void> {
    if (this.folders.folderOf(ref) !== undefined) await this.folders.change((tree) => tree.unassign(ref));
  }
}

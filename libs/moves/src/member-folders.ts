/** The folder of an instance, which goes along with it. Refs are text. */
export abstract class MemberFolders {
  abstract folderOf(ref: string): string | undefined;

  /** Puts an instance into a folder. Nothing happens if the folder no longer exists. */
  abstract assign(ref: string, path: string): Promise<void>;

  /** Takes an instance that no longer exists out of its folder. */
  abstract unassign(ref: string): Promise<void>;
}

import { POWER_ACTIONS, type PowerAction } from '@headgate/domain-contracts';
import { IsArray, IsBoolean, IsIn, IsInt, IsObject, IsString, MaxLength, Min } from 'class-validator';
import type { ContainerView } from './containers.js';
import { IsFolderPath, IsSwitch, Nested, Nullable, Optional } from './fields.js';
import { ChangeQuery } from './queries.js';
import type { VmView } from './vms.js';

/** `pause` and so on; `resume` means `unpause`. */
export const FOLDER_ACTIONS = [...POWER_ACTIONS, 'resume'] as const;

export class CreateFolderDto {
  @IsFolderPath() path!: string;
}

export class MoveFolderDto {
  @IsFolderPath() from!: string;
  /** The whole new path. */
  @IsFolderPath() to!: string;
}

export class AddFolderMemberDto {
  @IsFolderPath() path!: string;
  /** `vm/<context>/<namespace>/<name>` or `ct/…`, as in the lists. */
  @IsString() @MaxLength(1024) ref!: string;
}

export class FolderActionDto {
  @IsFolderPath() path!: string;
  /** start, stop, restart, pause, unpause or resume. */
  @IsString() @MaxLength(40) action!: string;
  /** Also the members of the folders in it. */
  @Optional() @IsBoolean() recursive?: boolean;
}

export class FoldersQuery {
  /** `true`: only the counts, without the instances. */
  @Optional() @IsSwitch() summary?: 'true' | 'false';
}

export class FolderQuery extends ChangeQuery {
  @IsFolderPath() path!: string;
}

export class FolderMemberQuery extends ChangeQuery {
  @IsString() @MaxLength(1024) ref!: string;
  /** `true`: only members that are missing, also if an instance that has their ref now is in a folder. */
  @Optional() @IsSwitch() missing?: 'true' | 'false';
}

export class FolderCountsView {
  @IsInt() @Min(0) members!: number;
  @IsInt() @Min(0) running!: number;
  @IsInt() @Min(0) missing!: number;
}

export class FolderView {
  @IsString() path!: string;
  /** The path of the folder around it; null at the top. */
  @Nullable() @IsString() parent!: string | null;
  @Nested(() => FolderCountsView) counts!: FolderCountsView;
  /** Its VMs and containers, as in their lists. Without those of the folders in it. */
  @Optional() @IsArray() @IsObject({ each: true }) members?: (VmView | ContainerView)[];
  /**
   * Refs of members that do not exist, or whose context was not listed since the start. A new instance may have the ref of one; it is in no folder.
   */
  @Optional() @IsArray() @IsString({ each: true }) missing?: string[];
}

/** GET /api/folders; with `summary=true`, without instances. */
export class FoldersView {
  /** Each after the folder around it. */
  @IsArray() @Nested(() => FolderView, { each: true }) folders!: FolderView[];
  /** The VMs and containers that are in no folder. */
  @Optional() @IsArray() @IsObject({ each: true }) unfoldered?: (VmView | ContainerView)[];
  /** Context → the reason why it can't be reached. */
  @IsObject() errors!: Record<string, string>;
}

/** A folder after a change. */
export class FolderPathView {
  @IsString() path!: string;
}

export class FolderMemberView {
  @IsString() path!: string;
  @IsString() ref!: string;
}

export class FolderRemovedMemberView {
  @IsString() status!: string;
  @IsString() ref!: string;
}

export class FolderMemberResultView {
  @IsString() ref!: string;
  @IsString() name!: string;
  @IsBoolean() ok!: boolean;
  /** Why the action was not needed, or makes no sense for this member. */
  @Optional() @IsString() skipped?: string;
  /** Why it failed. */
  @Optional() @IsString() error?: string;
}

/** The result of an action on a folder. `ok`, `failed` and `skipped` are numbers of members. */
export class FolderActionView {
  @IsString() path!: string;
  @IsIn(POWER_ACTIONS) action!: PowerAction;
  @IsInt() @Min(0) ok!: number;
  @IsInt() @Min(0) failed!: number;
  @IsInt() @Min(0) skipped!: number;
  @IsArray() @Nested(() => FolderMemberResultView, { each: true }) members!: FolderMemberResultView[];
}

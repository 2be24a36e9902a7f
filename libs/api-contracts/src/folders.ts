import { POWER_ACTIONS, type PowerAction } from '@headgate/domain-contracts';
import { IsArray, IsBoolean, IsIn, IsInt, IsString, MaxLength, Min, ValidateBy } from 'class-validator';
import type { ContainerView } from './containers.js';
import { IsFolderPath, IsMap, IsSwitch, IsWord, Nested, Nullable, Optional } from './fields.js';
import { ChangeQuery } from './queries.js';
import type { VmView } from './vms.js';

/** The entries of the lists, by their schemas: their classes would lead back to this file. */
const AreInstances = (): PropertyDecorator => {
  const anyOf = ['VmView', 'ContainerView'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return ValidateBy({
    name: 'areInstances',
    constraints: [{ type: 'array', items: { anyOf } }],
    validator: { validate: Array.isArray, defaultMessage: (args) => `${args?.property} must be an array.` },
  });
};

/** `pause` and so on; `resume` means `unpause`. */
export const FOLDER_ACTIONS = [...POWER_ACTIONS, 'resume'] as const;

/** POST /api/folders */
export class CreateFolderDto {
  /** The whole path of the new folder. The folders around it are created too. */
  @IsFolderPath() path!: string;
}

/** POST /api/folders/move */
export class MoveFolderDto {
  /** The whole path of the folder. */
  @IsFolderPath() from!: string;
  /** The whole new path. */
  @IsFolderPath() to!: string;
}

/** POST /api/folders/members. An instance is in one folder at most. */
export class AddFolderMemberDto {
  /** The whole path of the folder. */
  @IsFolderPath() path!: string;
  /** `vm/<context>/<namespace>/<name>` or `ct/…`, as in the lists. */
  @IsString() @MaxLength(1024) ref!: string;
}

/** POST /api/folders/action */
export class FolderActionDto {
  /** The whole path of the folder. */
  @IsFolderPath() path!: string;
  /** start, stop, restart, pause, unpause or resume. */
  @IsWord(FOLDER_ACTIONS) @MaxLength(40) action!: string;
  /** Also the members of the folders in it. */
  @Optional() @IsBoolean() recursive?: boolean;
}

/** The query of GET /api/folders. */
export class FoldersQuery {
  /** `true`: only the counts, without the instances. */
  @Optional() @IsSwitch() summary?: 'true' | 'false';
}

/** The query of the deletion of a folder. */
export class FolderQuery extends ChangeQuery {
  /** The whole path of the folder. */
  @IsFolderPath() path!: string;
}

/** The query that takes an instance out of its folder. */
export class FolderMemberQuery extends ChangeQuery {
  /** The ref of the instance: `vm/<context>/<namespace>/<name>` or `ct/…`. */
  @IsString() @MaxLength(1024) ref!: string;
  /** `true`: only members that are missing, also if an instance that has their ref now is in a folder. */
  @Optional() @IsSwitch() missing?: 'true' | 'false';
}

/** How many members a folder has, without those of the folders in it. */
export class FolderCountsView {
  /** The number of all members. */
  @IsInt() @Min(0) members!: number;
  /** The number of members that run. */
  @IsInt() @Min(0) running!: number;
  /** The number of members that do not exist, or whose context was not listed since the start. */
  @IsInt() @Min(0) missing!: number;
}

/** A folder. */
export class FolderView {
  /** The whole path. */
  @IsString() path!: string;
  /** The path of the folder around it; null at the top. */
  @Nullable() @IsString() parent!: string | null;
  /** How many members it has. */
  @Nested(() => FolderCountsView) counts!: FolderCountsView;
  /** Its VMs and containers, as in their lists. Without those of the folders in it. */
  @Optional() @AreInstances() members?: (VmView | ContainerView)[];
  /**
   * Refs of members that do not exist, or whose context was not listed since the start. A new instance may have the ref
   * of one; it is in no folder.
   */
  @Optional() @IsArray() @IsString({ each: true }) missing?: string[];
}

/** GET /api/folders; with `summary=true`, without instances. */
export class FoldersView {
  /** Each after the folder around it. */
  @IsArray() @Nested(() => FolderView, { each: true }) folders!: FolderView[];
  /** The VMs and containers that are in no folder. */
  @Optional() @AreInstances() unfoldered?: (VmView | ContainerView)[];
  /** Context → the reason why it can't be reached. */
  @IsMap({ type: 'string' }) errors!: Record<string, string>;
}

/** A folder after a change. */
export class FolderPathView {
  /** The whole path. */
  @IsString() path!: string;
}

/** An instance in a folder. */
export class FolderMemberView {
  /** The whole path of the folder. */
  @IsString() path!: string;
  /** The ref of the instance. */
  @IsString() ref!: string;
}

/** An instance that was taken out of its folder. */
export class FolderRemovedMemberView {
  /** `removed`. */
  @IsString() status!: string;
  /** The ref of the instance. */
  @IsString() ref!: string;
}

/** The result of an action for one member of a folder. */
export class FolderMemberResultView {
  /** The ref of the member. */
  @IsString() ref!: string;
  /** The name of the member. */
  @IsString() name!: string;
  /** Whether the action succeeded, or was not needed. */
  @IsBoolean() ok!: boolean;
  /** Why the action was not needed, or makes no sense for this member. */
  @Optional() @IsString() skipped?: string;
  /** Why it failed. */
  @Optional() @IsString() error?: string;
}

/** The result of an action on a folder. `ok`, `failed` and `skipped` are numbers of members. */
export class FolderActionView {
  /** The whole path of the folder. */
  @IsString() path!: string;
  /** The action on each member; `resume` became `unpause`. */
  @IsIn(POWER_ACTIONS) action!: PowerAction;
  /** The number of members for which it succeeded. */
  @IsInt() @Min(0) ok!: number;
  /** The number of members for which it failed. */
  @IsInt() @Min(0) failed!: number;
  /** The number of members for which it was not needed or makes no sense. */
  @IsInt() @Min(0) skipped!: number;
  /** The result for each member. */
  @IsArray() @Nested(() => FolderMemberResultView, { each: true }) members!: FolderMemberResultView[];
}

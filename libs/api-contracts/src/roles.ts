import {
  ACCESS_ACTIONS,
  INSTANCE_KINDS,
  ROLES,
  type AccessAction,
  type InstanceKind,
  type Role,
} from '@headgate/domain-contracts';
import {
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsObject,
  IsString,
  Matches,
  MaxLength,
  Min,
} from 'class-validator';
import { IsContextName, IsFolderPath, IsInstanceName, Nested, Nullable, Optional } from './fields.js';

const MAX_SUBJECT_LENGTH = 256;

/** Either a user or a group. */
export class RoleSubjectDto {
  /** The login of a user; upper and lower case are the same. */
  @Optional() @IsString() @MaxLength(MAX_SUBJECT_LENGTH) user?: string;
  /** A group of the login provider; upper and lower case are the same. */
  @Optional() @IsString() @MaxLength(MAX_SUBJECT_LENGTH) group?: string;
}

/** Where a role holds: in one of these, or without any field everywhere. */
export class RoleScopeDto {
  /** This folder and those in it. The role follows it to another path, and ends with it. */
  @Optional() @IsFolderPath() folder?: string;
  /** The instances of this context. */
  @Optional() @IsContextName() context?: string;
}

/** POST /api/ext/roles */
export class AssignRoleDto {
  /** Who gets the role. */
  @IsObject() @Nested(() => RoleSubjectDto) subject!: RoleSubjectDto;
  /** `viewer` reads, `operator` also uses the power actions and consoles and creates instances, `admin` does all. */
  @IsIn(ROLES) role!: Role;
  /** Where it holds. Default: everywhere. */
  @Optional() @IsObject() @Nested(() => RoleScopeDto) scope?: RoleScopeDto;
}

/** PATCH /api/ext/roles/{id} */
export class ChangeRoleDto {
  /** The new role. */
  @IsIn(ROLES) role!: Role;
  /** The number of the version that was read; 409 if the role was changed since. Default: any. */
  @Optional() @IsInt() @Min(1) version?: number;
}

/** `{id}` of a path. */
export class RolePath {
  /** The ID of a role, as in the list. */
  @Matches(/^[0-9A-Za-z-]{1,40}$/, { message: '$property must be the ID of a role.' }) id!: string;
}

/** A role of a user or a group. */
export class RoleAssignmentView {
  /** The ID of the role. */
  @IsString() id!: string;
  /** `configuration`: from the configuration file, where it can be changed. `assigned`: over the API. */
  @IsIn(['configuration', 'assigned']) source!: 'configuration' | 'assigned';
  /** Who has the role. */
  @Nested(() => RoleSubjectDto) subject!: RoleSubjectDto;
  /** What they may do. */
  @IsIn(ROLES) role!: Role;
  /** Where: with the present path of the folder, or the last one of a deleted folder. */
  @Nested(() => RoleScopeDto) scope!: RoleScopeDto;
  /** Whether the folder or context does not exist any more. Then the role gives no rights. */
  @IsBoolean() void!: boolean;
  /** When it was assigned, in ISO 8601; null in the configuration. */
  @Nullable() @IsString() createdAt!: string | null;
  /** The login of the administrator; empty for one without an identity, and in the configuration. */
  @IsString() createdBy!: string;
  /** The number of its version, which grows with each change; 0 in the configuration. */
  @IsInt() version!: number;
}

/** GET /api/ext/access */
export class AccessQueryDto {
  /** A login. Default: the caller, with their groups. */
  @Optional() @IsString() @MaxLength(MAX_SUBJECT_LENGTH) user?: string;
  /** A group, instead of a user. */
  @Optional() @IsString() @MaxLength(MAX_SUBJECT_LENGTH) group?: string;
  /** The kind of the instance. Default `vm`. */
  @Optional() @IsIn(INSTANCE_KINDS) kind?: InstanceKind;
  /** The namespace of the instance. */
  @Optional() @IsInstanceName() ns?: string;
  /** The name of the instance. Without it and `folder`: everything. */
  @Optional() @IsInstanceName() name?: string;
  /** The context of the instance, if it exists in several. */
  @Optional() @IsContextName() context?: string;
  /** A folder, instead of an instance. */
  @Optional() @IsFolderPath() folder?: string;
}

/** Whether one action is allowed, and why. */
export class AccessAnswerView {
  /** `watch` is a view-only console, `secrets` the manifest with its secrets, `manage` the service itself. */
  @IsIn(ACCESS_ACTIONS) action!: AccessAction;
  /** Whether it is allowed. */
  @IsBoolean() allowed!: boolean;
  /**
   * `role`: the role, or that there is none. `allowlist`: the administrators of the configuration. `account`: the
   * account of the user, or that they can't log in any more. `default`: the rights of everyone without an allowlist or
   * roles.
   */
  @IsIn(['role', 'allowlist', 'account', 'default']) by!: 'role' | 'allowlist' | 'account' | 'default';
  /** The role that allows it. */
  @Optional() @Nested(() => RoleAssignmentView) role?: RoleAssignmentView;
  /** Why it is refused. */
  @Optional() @IsString() refusal?: string;
}

/** The groups of a user at their last login. They count for tokens, schedules and webhooks of the user. */
export class GroupsAsOfView {
  /** As the login provider or the proxy has reported them. */
  @IsArray() @IsString({ each: true }) names!: string[];
  /** When they were reported. */
  @IsISO8601() at!: string;
  /** When they end, unless the user logs in before. */
  @IsISO8601() until!: string;
}

/** What a user or a group may do. */
export class AccessView {
  /** The groups of another user, if any are known. */
  @Optional() @IsObject() @Nested(() => GroupsAsOfView) groups?: GroupsAsOfView;
  /** The login, unless the question is about a group. */
  @Optional() @IsString() user?: string;
  /** The group of the question. */
  @Optional() @IsString() group?: string;
  /** The ref of the instance, `folder/` and a path, or empty for everything. */
  @IsString() object!: string;
  /** One answer for each action. */
  @IsArray() @Nested(() => AccessAnswerView, { each: true }) answers!: AccessAnswerView[];
}

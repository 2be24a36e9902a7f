import {
  AUDIT_OUTCOMES,
  INSTANCE_KINDS,
  TOKEN_ACTIONS,
  type AuditKind,
  type AuditOutcome,
  type InstanceKind,
  type TokenAction,
} from '@headgate/domain-contracts';
import {
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { IsContextName, IsFolderPath, IsInstanceName, IsJournalRef, Nested, Nullable, Optional } from './fields.js';

const MAX_TOKEN_DAYS = 366;

/** The instances that an API token is for: those that match every field. Without a field, all. */
export class TokenScopeDto {
  @Optional() @IsIn(INSTANCE_KINDS) kind?: InstanceKind;
  /** Words that must all occur, as in the list, but not in the address. */
  @Optional() @IsString() @MaxLength(256) @Matches(/\S/, { message: '$property must have a word.' }) q?: string;
  @Optional() @IsContextName() context?: string;
  /** This folder and those in it. */
  @Optional() @IsFolderPath() folder?: string;
}

/** POST /api/ext/tokens */
export class CreateTokenDto {
  @IsInstanceName() name!: string;
  /** Each of them includes `read`. */
  @IsArray() @ArrayMinSize(1) @ArrayUnique() @IsIn(TOKEN_ACTIONS, { each: true }) actions!: TokenAction[];
  @Optional() @IsObject() @Nested(() => TokenScopeDto) scope?: TokenScopeDto;
  /** How long it is valid. Default 90. */
  @Optional() @IsInt() @Min(1) @Max(MAX_TOKEN_DAYS) days?: number;
}

/** `{id}` of a path. */
export class TokenPath {
  @Matches(/^[0-9A-Za-z]{10}$/, { message: '$property must be the ID of an API token.' }) id!: string;
}

/** An API token, without its secret. */
export class TokenView {
  @IsString() id!: string;
  @IsString() name!: string;
  /** The login of the user who has created it; empty for one without an identity. */
  @IsString() creator!: string;
  @IsArray() @IsIn(TOKEN_ACTIONS, { each: true }) actions!: TokenAction[];
  @Nested(() => TokenScopeDto) scope!: TokenScopeDto;
  @IsString() createdAt!: string;
  @IsString() expiresAt!: string;
  @IsBoolean() expired!: boolean;
  /** At most a minute before the last request. */
  @Nullable() @IsString() lastUsedAt!: string | null;
}

/** 201 of a new API token. */
export class CreatedTokenView extends TokenView {
  /** Sent as `Authorization: Bearer`. Shown this one time only. */
  @IsString() token!: string;
}

/** GET /api/ext/journal */
export class JournalQueryDto {
  /** The ref of an instance, or the text of another object such as `folder/prod`. */
  @Optional() @IsJournalRef() ref?: string;
  /** A login. */
  @Optional() @IsString() @MaxLength(320) caller?: string;
  /** The ID of an API token. */
  @Optional() @IsString() @MaxLength(40) token?: string;
  @Optional() @IsIn(AUDIT_OUTCOMES) outcome?: AuditOutcome;
  /** The first moment. */
  @Optional() @IsISO8601({ strict: true }) @MaxLength(40) since?: string;
  /** The moment after the last one. */
  @Optional() @IsISO8601({ strict: true }) @MaxLength(40) until?: string;
  /** The maximum number of entries, 1 to 1000; default 100. The header Svc-Cursor leads to the next page. */
  @Optional()
  @Matches(/^([1-9]\d{0,2}|1000)$/, { message: '$property must be a number from 1 to 1000.' })
  limit?: string;
  /** The Svc-Cursor of the previous page. */
  @Optional()
  @Matches(/^[1-9]\d{0,15}$/, { message: '$property must be the Svc-Cursor of the previous page.' })
  cursor?: string;
}

/** An entry of the journal. */
export class JournalEntryView {
  /** Grows with each entry. */
  @IsInt() number!: number;
  @IsString() time!: string;
  /** The login; empty for a caller without an identity. */
  @IsString() caller!: string;
  /** The ID of the API token, or empty. */
  @IsString() token!: string;
  /** The IP address of the client, or empty. */
  @IsString() address!: string;
  /** `action`: recorded by the operation itself. `request`: any other request that was denied or would have changed something. */
  @IsIn(['action', 'request']) kind!: AuditKind;
  /** Such as `start`; of a request the same as its route. */
  @IsString() action!: string;
  /** The method and the pattern of the path. */
  @IsString() route!: string;
  @IsString() ref!: string;
  @IsIn(AUDIT_OUTCOMES) outcome!: AuditOutcome;
  /** The HTTP status, if it is known. */
  @Nullable() @IsInt() status!: number | null;
  /** The code of the error, or empty. */
  @IsString() code!: string;
  @IsString() message!: string;
}

/** A role of the caller, in a folder and those in it. */
export class RoleView {
  /** The path of the folder; `/` is everywhere. */
  @IsString() folder!: string;
  @IsIn(['viewer', 'operator', 'admin']) role!: 'viewer' | 'operator' | 'admin';
}

import {
  APPROVAL_RULES,
  AUDIT_KINDS,
  AUDIT_OUTCOMES,
  INSTANCE_KINDS,
  TOKEN_ACTIONS,
  type ApprovalRule,
  type AuditKind,
  type AuditOutcome,
  type InstanceKind,
  type TokenAction,
} from '@headgate/domain-contracts';
import {
  ArrayMaxSize,
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
import {
  IsAddressRange,
  IsContextName,
  IsCountText,
  IsFolderPath,
  IsInstanceName,
  IsJournalRef,
  Nested,
  Nullable,
  Optional,
} from './fields.js';

const MAX_TOKEN_DAYS = 366;
const MAX_CHANGES_PER_HOUR = 10_000;
const MAX_TOKEN_ADDRESSES = 16;

/** The instances that an API token is for: those that match every field. Without a field, all. */
export class TokenScopeDto {
  /** The kind of the instances. */
  @Optional() @IsIn(INSTANCE_KINDS) kind?: InstanceKind;
  /** Words that must all occur, as in the list, but not in the address. */
  @Optional() @IsString() @MaxLength(256) @Matches(/\S/, { message: '$property must have a word.' }) q?: string;
  /** The context of the instances. */
  @Optional() @IsContextName() context?: string;
  /** This folder and those in it. */
  @Optional() @IsFolderPath() folder?: string;
}

/** The limits of a token for an agent: it only reads, and changes what it has rehearsed. */
export class LeashDto {
  /** How many instances it may change in any hour, 1 to 10,000. Each member of a bulk action counts. */
  @IsInt() @Min(1) @Max(MAX_CHANGES_PER_HOUR) changesPerHour!: number;
  /** How many percent of the members of a folder it may change in any hour. The instances in no folder count as one. */
  @IsInt() @Min(1) @Max(100) maxPercentOfFolder!: number;
  /** Which commits wait until a user approves them: those that destroy something, all, or none. */
  @IsIn(APPROVAL_RULES) approval!: ApprovalRule;
}

/** Changes of a leash. Default: as before. */
export class LeashChangeDto {
  /** How many instances it may change in any hour, 1 to 10,000. */
  @Optional() @IsInt() @Min(1) @Max(MAX_CHANGES_PER_HOUR) changesPerHour?: number;
  /** How many percent of the members of a folder it may change in any hour. */
  @Optional() @IsInt() @Min(1) @Max(100) maxPercentOfFolder?: number;
  /** Which commits wait until a user approves them. */
  @Optional() @IsIn(APPROVAL_RULES) approval?: ApprovalRule;
}

/** POST /api/ext/tokens */
export class CreateTokenDto {
  /** The name under which the token is listed. */
  @IsInstanceName() name!: string;
  /** Each of them includes `read`. */
  @IsArray() @ArrayMinSize(1) @ArrayUnique() @IsIn(TOKEN_ACTIONS, { each: true }) actions!: TokenAction[];
  /** The instances that the token is for. Default: all. */
  @Optional() @IsObject() @Nested(() => TokenScopeDto) scope?: TokenScopeDto;
  /** The only IP addresses and networks, such as 10.0.0.0/8, from which it is accepted. Default: any. */
  @Optional()
  @IsArray()
  @ArrayMaxSize(MAX_TOKEN_ADDRESSES)
  @ArrayUnique()
  @IsAddressRange({ each: true })
  addresses?: string[];
  /** How many days it is valid. Default 90. */
  @Optional() @IsInt() @Min(1) @Max(MAX_TOKEN_DAYS) days?: number;
  /** With a leash, the token is for an agent: it may rehearse the actions, and commit what it has rehearsed. */
  @Optional() @IsObject() @Nested(() => LeashDto) agent?: LeashDto;
}

/** PATCH /api/ext/tokens/{id}. At least one field. */
export class ChangeTokenDto {
  /** Each of them includes `read`. Default: as before. */
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(TOKEN_ACTIONS, { each: true })
  actions?: TokenAction[];
  /** The instances that the token is for; `{}` is all. Default: as before. */
  @Optional() @IsObject() @Nested(() => TokenScopeDto) scope?: TokenScopeDto;
  /** The only IP addresses and networks from which it is accepted; `[]` is any. Default: as before. */
  @Optional()
  @IsArray()
  @ArrayMaxSize(MAX_TOKEN_ADDRESSES)
  @ArrayUnique()
  @IsAddressRange({ each: true })
  addresses?: string[];
  /** How many days it is valid from now on. Default: as long as before. */
  @Optional() @IsInt() @Min(1) @Max(MAX_TOKEN_DAYS) days?: number;
  /** Only of a token with a leash, which it keeps. */
  @Optional() @IsObject() @Nested(() => LeashChangeDto) agent?: LeashChangeDto;
}

/** POST /api/ext/tokens/{id}/rotate */
export class RotateTokenDto {
  /** How many days it is valid from now on. Default: as long as before. */
  @Optional() @IsInt() @Min(1) @Max(MAX_TOKEN_DAYS) days?: number;
}

/** `{id}` of a path. */
export class TokenPath {
  /** The ID of an API token, as in the list. */
  @Matches(/^[0-9A-Za-z]{10}$/, { message: '$property must be the ID of an API token.' }) id!: string;
}

/** An API token, without its secret. */
export class TokenView {
  /** The ID of the token, as entries of the journal have it. */
  @IsString() id!: string;
  /** The name that its creator gave it. */
  @IsString() name!: string;
  /** The login of the user who has created it; empty for one without an identity. */
  @IsString() creator!: string;
  /** What a caller with the token may do, or with a leash rehearse. Each action includes `read`. */
  @IsArray() @IsIn(TOKEN_ACTIONS, { each: true }) actions!: TokenAction[];
  /** The instances that the token is for. */
  @Nested(() => TokenScopeDto) scope!: TokenScopeDto;
  /** The only addresses and networks from which it is accepted; empty for any. */
  @IsArray() @IsString({ each: true }) addresses!: string[];
  /** When it was created, in ISO 8601. */
  @IsString() createdAt!: string;
  /** When it stops being valid, in ISO 8601. */
  @IsString() expiresAt!: string;
  /** Present: the token is for an agent. */
  @Optional() @Nested(() => LeashDto) agent?: LeashDto;
  /** Whether an administrator has stopped the agent. */
  @Optional() @IsBoolean() stopped?: boolean;
  /** Whether a program of the creator has it by a device login. */
  @IsBoolean() device!: boolean;
  /** Whether it is no longer valid. */
  @IsBoolean() expired!: boolean;
  /** At most a minute before the last request. */
  @Nullable() @IsString() lastUsedAt!: string | null;
}

/** An API token with its secret. */
export class CreatedTokenView extends TokenView {
  /** Sent as `Authorization: Bearer`. Shown this one time only. */
  @IsString() token!: string;
}

/** The query of GET /api/ext/journal/summary. */
export class JournalFilterDto {
  /** The ref of an instance, or the text of another object such as `folder/prod`. */
  @Optional() @IsJournalRef() ref?: string;
  /** A login. */
  @Optional() @IsString() @MaxLength(320) caller?: string;
  /** The ID of an API token. */
  @Optional() @IsString() @MaxLength(40) token?: string;
  /** Only entries with this outcome. */
  @Optional() @IsIn(AUDIT_OUTCOMES) outcome?: AuditOutcome;
  /** A part of the action such as `snapshot`, in any case. */
  @Optional() @IsString() @MaxLength(100) @Matches(/\S/, { message: '$property must have a word.' }) action?: string;
  /** The first moment. */
  @Optional() @IsISO8601({ strict: true }) @MaxLength(40) since?: string;
  /** The moment after the last one. */
  @Optional() @IsISO8601({ strict: true }) @MaxLength(40) until?: string;
}

/** GET /api/ext/journal */
export class JournalQueryDto extends JournalFilterDto {
  /** The maximum number of entries, 1 to 1000; default 100. The header Svc-Cursor leads to the next page. */
  @Optional() @IsCountText(1, 1000) limit?: string;
  /** The Svc-Cursor of the previous page. */
  @Optional()
  @Matches(/^[1-9]\d{0,15}$/, { message: '$property must be the Svc-Cursor of the previous page.' })
  cursor?: string;
}

/** GET /api/ext/journal/stream */
export class JournalStreamQuery {
  /** The same as the header Last-Event-ID, for pages, which can't set it: the number of an entry. */
  @Optional() @IsString() @MaxLength(64) lastEventId?: string;
}

/** GET /api/ext/journal/export */
export class JournalExportQuery {
  /** Only entries with a larger number, such as those after an earlier export. */
  @Optional() @Matches(/^\d{1,15}$/, { message: '$property must be the number of an entry.' }) after?: string;
}

/** The newest entry of the chain of hashes. */
export class JournalHeadView {
  /** The number of the entry; 0 without entries. */
  @IsInt() @Min(0) number!: number;
  /** Its SHA-256 in hexadecimal, which covers all entries before it; 64 zeros without entries. */
  @IsString() hash!: string;
}

/** An entry of the journal. */
export class JournalEntryView {
  /** The number of the entry, which grows with each one. */
  @IsInt() number!: number;
  /** When it was recorded, in ISO 8601. */
  @IsString() time!: string;
  /** The login; empty for a caller without an identity. */
  @IsString() caller!: string;
  /** The ID of the API token, or empty. */
  @IsString() token!: string;
  /** The IP address of the client, or empty. */
  @IsString() address!: string;
  /**
   * `action`: recorded by the operation itself. `request`: any other request that was denied or would have changed
   * something. `simulated`: invented for the past of a simulated cluster.
   */
  @IsIn(AUDIT_KINDS) kind!: AuditKind;
  /** Such as `start`; of a request the same as its route. */
  @IsString() action!: string;
  /** The method and the pattern of the path. */
  @IsString() route!: string;
  /** The object: the ref of an instance, or a text such as `folder/prod`; may be empty. */
  @IsString() ref!: string;
  /** `denied`: the caller was not permitted to do it. */
  @IsIn(AUDIT_OUTCOMES) outcome!: AuditOutcome;
  /** The HTTP status, if it is known. */
  @Nullable() @IsInt() status!: number | null;
  /** The code of the error, or empty. */
  @IsString() code!: string;
  /** One sentence about the outcome; may be empty. */
  @IsString() message!: string;
  /** Of the stream: the SHA-256 of the entry and of the hashes before it. Absent in entries of earlier releases. */
  @Optional() @IsString() hash?: string;
}

/** A role of the caller, in a folder and those in it, or in a context. */
export class RoleView {
  /** The path of the folder; `/` is everywhere. */
  @Optional() @IsString() folder?: string;
  /** The context, instead of a folder. */
  @Optional() @IsString() context?: string;
  /**
   * `viewer` reads, `operator` also uses the power actions and consoles and creates instances, `admin` also changes and
   * deletes.
   */
  @IsIn(['viewer', 'operator', 'admin']) role!: 'viewer' | 'operator' | 'admin';
}

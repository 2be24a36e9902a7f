import { WEBHOOK_EVENTS, type WebhookEventType } from '@headgate/domain-contracts';
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
import { TokenScopeDto } from './access.js';
import { IsDownloadUrl, IsInstanceName, Nested, Nullable, Optional } from './fields.js';
import { ChangeQuery } from './queries.js';

/** POST /api/ext/webhooks */
export class CreateWebhookDto {
  /** The name under which the webhook is listed. */
  @IsInstanceName() name!: string;
  /** Where the messages are sent to. Private addresses need the operator's permission. */
  @IsDownloadUrl() url!: string;
  /** The events to send. */
  @IsArray() @ArrayMinSize(1) @ArrayUnique() @IsIn(WEBHOOK_EVENTS, { each: true }) events!: WebhookEventType[];
  /** The instances that it is for, of those that its creator may read at that time. Default: all of them. */
  @Optional() @IsObject() @Nested(() => TokenScopeDto) scope?: TokenScopeDto;
}

/** PATCH /api/ext/webhooks/{id}. At least one field. */
export class ChangeWebhookDto {
  /** The instances that it is for; `{}` is all that its creator may read. Default: as before. */
  @Optional() @IsObject() @Nested(() => TokenScopeDto) scope?: TokenScopeDto;
  /** The events to send. Default: as before. */
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(WEBHOOK_EVENTS, { each: true })
  events?: WebhookEventType[];
}

/** `{id}` of a path. */
export class WebhookPath {
  /** The ID of a webhook, as in the list. */
  @Matches(/^[0-9a-f]{12}$/, { message: '$property must be the ID of a webhook.' }) id!: string;
}

/** The query of a replay. */
export class ReplayQuery extends ChangeQuery {
  /** The time of the first event. Absent: the first one that was not delivered. */
  @Optional() @IsISO8601({ strict: true }) @MaxLength(40) since?: string;
}

/** A webhook, without its secret. */
export class WebhookView {
  /** The ID of the webhook. */
  @IsString() id!: string;
  /** The name that its creator gave it. */
  @IsString() name!: string;
  /** Without its query, which may contain a secret. */
  @IsString() url!: string;
  /** The events that are sent. */
  @IsArray() @IsIn(WEBHOOK_EVENTS, { each: true }) events!: WebhookEventType[];
  /** The instances that it is for, of those that its creator may read; empty for all of them. */
  @Nested(() => TokenScopeDto) scope!: TokenScopeDto;
  /** The login of the user who has created it, and whose rights it has; empty for one without an identity. */
  @IsString() creator!: string;
  /** When it was created, in ISO 8601. */
  @IsString() createdAt!: string;
  /** Whether deliveries have stopped because they failed for too long. A replay starts them again. */
  @IsBoolean() disabled!: boolean;
  /** Why deliveries wait, although they did not fail: its creator may read nothing. A replay starts them again. */
  @Optional() @IsString() paused?: string;
  /** The number of failed attempts to deliver the next event. */
  @IsInt() @Min(0) attempts!: number;
  /** When the next attempt follows, in ISO 8601; null if none is due. */
  @Nullable() @IsString() nextAttemptAt!: string | null;
  /** Why the last attempt has failed, or empty. */
  @IsString() lastError!: string;
  /** When the last event was delivered, in ISO 8601; null if none was. */
  @Nullable() @IsString() lastDeliveredAt!: string | null;
  /** The number of events that were dropped before they were delivered. */
  @IsInt() @Min(0) missed!: number;
  /** Until when messages are also signed with the secret before the last rotation, in ISO 8601; absent if none is. */
  @Optional() @IsString() formerSecretUntil?: string;
}

/** POST /api/ext/webhooks/{id}/rotate */
export class RotateWebhookDto {
  /** For how many hours messages are signed with both secrets, 0 to 168. Default: 24. */
  @Optional() @IsInt() @Min(0) @Max(168) overlapHours?: number;
}

/** 201 of a new webhook. */
export class CreatedWebhookView extends WebhookView {
  /** The key of the signatures. Shown this one time only. */
  @IsString() secret!: string;
}

/** 200 of POST /api/ext/webhooks/{id}/test */
export class WebhookTestView {
  /** Whether the receiver has accepted the message. */
  @IsIn(['accepted', 'failed']) result!: 'accepted' | 'failed';
  /** Why not; empty if it has. */
  @IsString() reason!: string;
}

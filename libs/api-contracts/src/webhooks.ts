import { WEBHOOK_EVENTS, type WebhookEventType } from '@headgate/domain-contracts';
import {
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { IsDownloadUrl, IsInstanceName, Nullable, Optional } from './fields.js';
import { ChangeQuery } from './queries.js';

/** POST /api/ext/webhooks */
export class CreateWebhookDto {
  /** The name under which the webhook is listed. */
  @IsInstanceName() name!: string;
  /** Where the messages are sent to. Private addresses need the operator's permission. */
  @IsDownloadUrl() url!: string;
  /** The events to send. */
  @IsArray() @ArrayMinSize(1) @ArrayUnique() @IsIn(WEBHOOK_EVENTS, { each: true }) events!: WebhookEventType[];
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
  /** The login of the user who has created it; empty for one without an identity. */
  @IsString() creator!: string;
  /** When it was created, in ISO 8601. */
  @IsString() createdAt!: string;
  /** Whether deliveries have stopped because they failed for too long. A replay starts them again. */
  @IsBoolean() disabled!: boolean;
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

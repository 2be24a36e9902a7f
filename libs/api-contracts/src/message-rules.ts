import {
  MESSAGE_DELIVERIES,
  MESSAGE_KINDS,
  MESSAGE_SEVERITIES,
  MESSAGE_STATUSES,
  type MessageDelivery,
  type MessageKind,
  type MessageSeverity,
  type MessageStatus,
} from '@headgate/domain-contracts';
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
  MaxLength,
  Min,
} from 'class-validator';
import { IsFolderPath, Nested, Nullable, Optional } from './fields.js';
import { IsVisibleName } from './given-name.js';

const MAX_ZONE_CHARS = 60;
const MAX_QUERY_CHARS = 500;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const TIME_MESSAGE = '$property must be a time such as 07:30.';
const CHANNEL_MESSAGE = '$property must be the ID of a channel.';
const CHANNEL = /^[0-9a-f-]{36}$/;

/** When nothing is sent immediately. */
export class QuietHoursDto {
  /** The first minute, `HH:MM` in the time zone of the rule. */
  @IsString() @Matches(TIME, { message: TIME_MESSAGE }) from!: string;
  /** The minute at which messages are sent again. It may be earlier than `from`: on the next day. */
  @IsString() @Matches(TIME, { message: TIME_MESSAGE }) to!: string;
}

/** POST /api/ext/messages/rules */
export class CreateMessageRuleDto {
  /** Unique among the rules of the caller. */
  @IsVisibleName() name!: string;
  /** The ID of a channel that the caller may use. */
  @IsString() @Matches(CHANNEL, { message: CHANNEL_MESSAGE }) channel!: string;
  /** The events that it is about. */
  @IsArray() @ArrayMinSize(1) @ArrayUnique() @IsIn(MESSAGE_KINDS, { each: true }) kinds!: MessageKind[];
  /** Whether it sends; true by default. */
  @Optional() @IsBoolean() enabled?: boolean;
  /** The least severity; `warning` by default. The end of a problem has the severity of the problem. */
  @Optional() @IsIn(MESSAGE_SEVERITIES) minSeverity?: MessageSeverity;
  /** Only events of the instances in this folder and those in it. */
  @Optional() @IsFolderPath() folder?: string;
  /** Only events of the instances that match this query. */
  @Optional() @IsString() @MaxLength(MAX_QUERY_CHARS) q?: string;
  /** Immediately, or once a day; `immediately` by default. */
  @Optional() @IsIn(MESSAGE_DELIVERIES) delivery?: MessageDelivery;
  /** When the digest is sent, `HH:MM`; `07:00` by default. */
  @Optional() @IsString() @Matches(TIME, { message: TIME_MESSAGE }) digestAt?: string;
  /** A name of the IANA database, such as `Europe/Berlin`; `UTC` by default. */
  @Optional() @IsString() @MaxLength(MAX_ZONE_CHARS) timeZone?: string;
  /** When nothing is sent immediately. The events of these hours are one message afterwards. */
  @Optional() @Nested(() => QuietHoursDto) quietHours?: QuietHoursDto;
}

/** PATCH /api/ext/messages/rules/{id}. Absent fields stay as they are, and null removes one. */
export class UpdateMessageRuleDto {
  /** Unique among the rules of its owner. */
  @Optional() @IsVisibleName() name?: string;
  /** The ID of a channel that the caller may use. */
  @Optional() @IsString() @Matches(CHANNEL, { message: CHANNEL_MESSAGE }) channel?: string;
  /** The events that it is about. */
  @Optional() @IsArray() @ArrayMinSize(1) @ArrayUnique() @IsIn(MESSAGE_KINDS, { each: true }) kinds?: MessageKind[];
  /** Whether it sends. Messages that wait when it is disabled are not sent. */
  @Optional() @IsBoolean() enabled?: boolean;
  /** The least severity. */
  @Optional() @IsIn(MESSAGE_SEVERITIES) minSeverity?: MessageSeverity;
  /** Only events of the instances in this folder and those in it. */
  @Optional() @Nullable() @IsFolderPath() folder?: string | null;
  /** Only events of the instances that match this query. */
  @Optional() @Nullable() @IsString() @MaxLength(MAX_QUERY_CHARS) q?: string | null;
  /** Immediately, or once a day. */
  @Optional() @IsIn(MESSAGE_DELIVERIES) delivery?: MessageDelivery;
  /** When the digest is sent, `HH:MM`. */
  @Optional() @IsString() @Matches(TIME, { message: TIME_MESSAGE }) digestAt?: string;
  /** A name of the IANA database. */
  @Optional() @IsString() @MaxLength(MAX_ZONE_CHARS) timeZone?: string;
  /** When nothing is sent immediately. */
  @Optional() @Nullable() @Nested(() => QuietHoursDto) quietHours?: QuietHoursDto | null;
}

/** A rule of messages. */
export class MessageRuleView {
  /** Its ID. */
  @IsString() id!: string;
  /** The login of the user whose rights it has; empty for a user without an identity. */
  @IsString() owner!: string;
  /** The ID of the API token that has created it, and whose rights it has at most. */
  @Optional() @IsString() token?: string;
  /** Its name. */
  @IsString() name!: string;
  /** Whether it sends. */
  @IsBoolean() enabled!: boolean;
  /** The ID of its channel. */
  @IsString() channel!: string;
  /** The events that it is about. */
  @IsArray() @IsIn(MESSAGE_KINDS, { each: true }) kinds!: MessageKind[];
  /** The least severity. */
  @IsIn(MESSAGE_SEVERITIES) minSeverity!: MessageSeverity;
  /** Only events of the instances in this folder and those in it. */
  @Optional() @IsString() folder?: string;
  /** Only events of the instances that match this query. */
  @Optional() @IsString() q?: string;
  /** Immediately, or once a day. */
  @IsIn(MESSAGE_DELIVERIES) delivery!: MessageDelivery;
  /** When the digest is sent, `HH:MM`. */
  @IsString() digestAt!: string;
  /** A name of the IANA database. */
  @IsString() timeZone!: string;
  /** When nothing is sent immediately. */
  @Optional() @Nested(() => QuietHoursDto) quietHours?: QuietHoursDto;
  /** The number of events that wait for the next message. */
  @IsInt() @Min(0) waitingEvents!: number;
  /** When it was created, in ISO 8601. */
  @IsISO8601() createdAt!: string;
  /** When it was changed last, in ISO 8601. */
  @IsISO8601() changedAt!: string;
}

/** A message of a rule. Its text is not kept. */
export class MessageView {
  /** Its ID, which is the same at each attempt. */
  @IsString() id!: string;
  /** The ID of its rule. */
  @IsString() rule!: string;
  /** The name of its rule. */
  @IsString() ruleName!: string;
  /** The ID of the channel of the rule. */
  @IsString() channel!: string;
  /** `waiting`: it is sent soon, or again. `failed`: it was refused, or the receiver was not reached for a day. */
  @IsIn(MESSAGE_STATUSES) status!: MessageStatus;
  /** The most serious event. */
  @IsIn(MESSAGE_SEVERITIES) severity!: MessageSeverity;
  /** Its subject. */
  @IsString() subject!: string;
  /** The number of events that it is about. */
  @IsInt() @Min(0) events!: number;
  /** Whether it is a daily digest. */
  @IsBoolean() isDigest!: boolean;
  /** When it was written, in ISO 8601. */
  @IsISO8601() createdAt!: string;
  /** When it was accepted or given up, in ISO 8601. */
  @Nullable() @IsISO8601() endedAt!: string | null;
  /** The number of attempts. */
  @IsInt() @Min(0) attempts!: number;
  /** When the next attempt is due, in ISO 8601. */
  @Nullable() @IsISO8601() nextAttemptAt!: string | null;
  /** Why the last attempt failed, or which recipients were refused; empty otherwise. */
  @IsString() reason!: string;
}

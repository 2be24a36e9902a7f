import { MAIL_SECURITIES, type MailSecurity } from '@headgate/domain-contracts';
import {
  ArrayMaxSize,
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
import { IsDownloadUrl, Nested, Nullable, Optional } from './fields.js';
import { IsVisibleName } from './given-name.js';

const MAX_HOST_CHARS = 253;
const MAX_PORT = 65_535;
const MAX_USER_CHARS = 256;
const MAX_SECRET_CHARS = 1024;
const MAX_ADDRESS_CHARS = 254;
const MAX_RECIPIENTS = 50;
/** A name, or an address without brackets. */
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*)$/;
const HOST_MESSAGE = '$property must be the name of a host, such as mail.example.org, or an IP address.';
/** A single mailbox, without a display name: nothing in it can add a header or a recipient. */
const ADDRESS = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*$/;
const ADDRESS_MESSAGE = '$property must be an address such as ops@example.org, without a name.';
/** Printable, so that nothing ends the line of a header or a command. */
const PRINTABLE = /^[^\p{Cc}]*$/u;
const PRINTABLE_MESSAGE = '$property must not contain control characters.';
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;
const TOPIC_MESSAGE = '$property must have 1 to 64 characters of A-Z, a-z, 0-9, "-" and "_".';
const TOKEN = /^[\x21-\x7e]*$/;
const TOKEN_MESSAGE = '$property must have visible ASCII characters only.';
const WEBHOOK = /^[0-9a-f]{12}$/;
const WEBHOOK_MESSAGE = '$property must be the ID of a webhook.';

/** A mail server and the recipients. */
export class MailChannelDto {
  /** The name or the address of the SMTP server. Private addresses need the operator's permission. */
  @IsString() @MaxLength(MAX_HOST_CHARS) @Matches(HOST, { message: HOST_MESSAGE }) host!: string;
  /** The number of the port: usually 587 with `starttls`, and 465 with `tls`. */
  @IsInt() @Min(1) @Max(MAX_PORT) port!: number;
  /** `starttls` and `tls` need a valid certificate of the host; `none` is possible on the loopback interface only. */
  @IsIn(MAIL_SECURITIES) security!: MailSecurity;
  /** The user of the login; without it, there is none. */
  @Optional()
  @IsString()
  @MaxLength(MAX_USER_CHARS)
  @Matches(PRINTABLE, { message: PRINTABLE_MESSAGE })
  user?: string;
  /** The password of the login. No response contains it. */
  @Optional()
  @IsString()
  @MaxLength(MAX_SECRET_CHARS)
  @Matches(PRINTABLE, { message: PRINTABLE_MESSAGE })
  password?: string;
  /** The address of the sender. */
  @IsString() @MaxLength(MAX_ADDRESS_CHARS) @Matches(ADDRESS, { message: ADDRESS_MESSAGE }) from!: string;
  /** The addresses of the recipients, who see each other: at most 50. */
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_RECIPIENTS)
  @ArrayUnique()
  @IsString({ each: true })
  @MaxLength(MAX_ADDRESS_CHARS, { each: true })
  @Matches(ADDRESS, { each: true, message: ADDRESS_MESSAGE })
  recipients!: string[];
}

/** New values of some settings of a mail server. Absent ones stay as they are. */
export class MailChannelChangeDto {
  /** The name or the address of the SMTP server. With another one, the password must be given again. */
  @Optional() @IsString() @MaxLength(MAX_HOST_CHARS) @Matches(HOST, { message: HOST_MESSAGE }) host?: string;
  /** The number of the port. With another one, the password must be given again. */
  @Optional() @IsInt() @Min(1) @Max(MAX_PORT) port?: number;
  /** The encryption. With another one, the password must be given again. */
  @Optional() @IsIn(MAIL_SECURITIES) security?: MailSecurity;
  /** The user of the login. With another one, the password must be given again. */
  @Optional()
  @IsString()
  @MaxLength(MAX_USER_CHARS)
  @Matches(PRINTABLE, { message: PRINTABLE_MESSAGE })
  user?: string;
  /** The password of the login. */
  @Optional()
  @IsString()
  @MaxLength(MAX_SECRET_CHARS)
  @Matches(PRINTABLE, { message: PRINTABLE_MESSAGE })
  password?: string;
  /** The address of the sender. */
  @Optional() @IsString() @MaxLength(MAX_ADDRESS_CHARS) @Matches(ADDRESS, { message: ADDRESS_MESSAGE }) from?: string;
  /** The addresses of the recipients, at most 50. */
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_RECIPIENTS)
  @ArrayUnique()
  @IsString({ each: true })
  @MaxLength(MAX_ADDRESS_CHARS, { each: true })
  @Matches(ADDRESS, { each: true, message: ADDRESS_MESSAGE })
  recipients?: string[];
}

/** A topic of an ntfy server. */
export class NtfyChannelDto {
  /** The URL of the server, such as `https://ntfy.example.org`. Private addresses need the operator's permission. */
  @IsDownloadUrl() server!: string;
  /** The topic. */
  @IsString() @Matches(TOPIC, { message: TOPIC_MESSAGE }) topic!: string;
  /** An access token, if the topic needs one. No response contains it. */
  @Optional() @IsString() @MaxLength(MAX_SECRET_CHARS) @Matches(TOKEN, { message: TOKEN_MESSAGE }) token?: string;
}

/** New values of some settings of a topic. Absent ones stay as they are. */
export class NtfyChannelChangeDto {
  /** The URL of the server. With another one, the token must be given again. */
  @Optional() @IsDownloadUrl() server?: string;
  /** The topic. */
  @Optional() @IsString() @Matches(TOPIC, { message: TOPIC_MESSAGE }) topic?: string;
  /** An access token. */
  @Optional() @IsString() @MaxLength(MAX_SECRET_CHARS) @Matches(TOKEN, { message: TOKEN_MESSAGE }) token?: string;
}

/** A webhook that exists. */
export class WebhookChannelDto {
  /** Its ID. */
  @IsString() @Matches(WEBHOOK, { message: WEBHOOK_MESSAGE }) webhook!: string;
}

/** POST /api/ext/messages/channels: exactly one of `mail`, `ntfy` and `webhook`. */
export class CreateMessageChannelDto {
  /** Unique among the channels. */
  @IsVisibleName() name!: string;
  /** Whether every user may send to it by a rule; false by default. */
  @Optional() @IsBoolean() shared?: boolean;
  /** Sends mail. */
  @Optional() @Nested(() => MailChannelDto) mail?: MailChannelDto;
  /** Publishes to a topic of ntfy. */
  @Optional() @Nested(() => NtfyChannelDto) ntfy?: NtfyChannelDto;
  /** Sends to a webhook. */
  @Optional() @Nested(() => WebhookChannelDto) webhook?: WebhookChannelDto;
}

/** PATCH /api/ext/messages/channels/{id}. Absent fields stay as they are; the kind does not change. */
export class UpdateMessageChannelDto {
  /** Unique among the channels. */
  @Optional() @IsVisibleName() name?: string;
  /** Whether every user may send to it by a rule. */
  @Optional() @IsBoolean() shared?: boolean;
  /** Settings of a channel that sends mail. */
  @Optional() @Nested(() => MailChannelChangeDto) mail?: MailChannelChangeDto;
  /** Settings of a channel that publishes to a topic of ntfy. */
  @Optional() @Nested(() => NtfyChannelChangeDto) ntfy?: NtfyChannelChangeDto;
  /** Settings of a channel that sends to a webhook. */
  @Optional() @Nested(() => WebhookChannelDto) webhook?: WebhookChannelDto;
}

/** The path of a channel or a rule of messages. */
export class MessagePath {
  /** Its ID. */
  @Matches(/^[0-9a-f-]{36}$/, { message: '$property must be the ID of a channel or a rule.' }) id!: string;
}

export const MESSAGE_CHANNEL_KINDS = ['mail', 'ntfy', 'webhook'] as const;

/** The settings of a channel without its secret. Those of other kinds are null. */
export class MessageTargetView {
  /** The mail server. */
  @Nullable() @IsString() host!: string | null;
  /** The number of the port of the mail server. */
  @Nullable() @IsInt() port!: number | null;
  /** The encryption of the mail server. */
  @Nullable() @IsIn(MAIL_SECURITIES) security!: MailSecurity | null;
  /** The user of the login; empty without one. */
  @Nullable() @IsString() user!: string | null;
  /** The address of the sender. */
  @Nullable() @IsString() from!: string | null;
  /** The addresses of the recipients. */
  @IsArray() @IsString({ each: true }) recipients!: string[];
  /** The server of ntfy. */
  @Nullable() @IsString() server!: string | null;
  /** The topic of ntfy. */
  @Nullable() @IsString() topic!: string | null;
  /** The ID of the webhook. */
  @Nullable() @IsString() webhook!: string | null;
  /** Whether a password or a token is stored. */
  @IsBoolean() hasSecret!: boolean;
}

/** A channel of messages. */
export class MessageChannelView {
  /** Its ID. */
  @IsString() id!: string;
  /** Its name. */
  @IsString() name!: string;
  /** How it sends. */
  @IsIn(MESSAGE_CHANNEL_KINDS) kind!: (typeof MESSAGE_CHANNEL_KINDS)[number];
  /** Whether every user may send to it by a rule. */
  @IsBoolean() shared!: boolean;
  /** Where it sends to; null for callers who may not manage the service. */
  @Nullable() @Nested(() => MessageTargetView) target!: MessageTargetView | null;
  /** When it was created, in ISO 8601. */
  @IsISO8601() createdAt!: string;
}

/** The outcome of a test. */
export class MessageChannelTestView {
  /** Whether the receiver has accepted the message. */
  @IsBoolean() sent!: boolean;
  /** Why it was not accepted, or which recipients were refused; empty otherwise. */
  @IsString() reason!: string;
}

import { TOKEN_ACTIONS, type TokenAction } from '@headgate/domain-contracts';
import {
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { IsInstanceName, Optional } from './fields.js';

/** A program may act for its user for at most so many days. */
export const MAX_DEVICE_DAYS = 90;
export const DEFAULT_DEVICE_DAYS = 30;

/** What a program receives when it asks for its token. */
export const DEVICE_STATUSES = ['pending', 'slow-down', 'denied', 'expired', 'approved'] as const;
export type DeviceStatus = (typeof DEVICE_STATUSES)[number];

/** POST /api/ext/login/device */
export class BeginDeviceLoginDto {
  /** The name of the machine of the program, which its token gets. */
  @IsInstanceName() machine!: string;
  /** What the program wants to do. Each action includes `read`. Default: all. */
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(TOKEN_ACTIONS, { each: true })
  actions?: TokenAction[];
  /** How many days its token is valid, 1 to 90. Default: 30. */
  @Optional() @IsInt() @Min(1) @Max(MAX_DEVICE_DAYS) days?: number;
}

/** A program that waits until a user approves it. */
export class BegunDeviceLoginView {
  /** The secret with which the program asks for its token. Shown this one time only. */
  @IsString() deviceCode!: string;
  /** The code that the user types on the page, such as `WDJB-MJHT`. */
  @IsString() userCode!: string;
  /** The page, below the address of the service. */
  @IsString() page!: string;
  /** After so many seconds, the codes are not valid any more. */
  @IsInt() expiresInSeconds!: number;
  /** How many seconds the program waits before it asks for its token, and between two requests. */
  @IsInt() intervalSeconds!: number;
}

/** POST /api/ext/login/device/token */
export class PollDeviceLoginDto {
  /** The device code of the program. */
  @Matches(/^[\w-]{43}$/, { message: '$property must be a device code.' }) deviceCode!: string;
}

/** What a program receives when it asks for its token. */
export class DevicePollView {
  /**
   * `pending`: ask again. `slow-down`: ask again, with the longer interval from now on. `denied`: the user has refused.
   * `expired`: the code is too old, was used, or is not known. `approved`: with the token.
   */
  @IsIn(DEVICE_STATUSES) status!: DeviceStatus;
  /** How many seconds the program waits before it asks again; absent if it must not. */
  @Optional() @IsInt() intervalSeconds?: number;
  /** Sent as `Authorization: Bearer`. Only of `approved`, and shown this one time only. */
  @Optional() @IsString() token?: string;
  /** The name of the token in the lists. Only of `approved`. */
  @Optional() @IsString() name?: string;
  /** When the token stops being valid, in ISO 8601. Only of `approved`. */
  @Optional() @IsString() expiresAt?: string;
}

/** POST /api/ext/login/device/request, …/approve and …/deny */
export class UserCodeDto {
  /** The code that the program shows. Dashes, spaces and the case do not matter. */
  @IsString() @IsNotEmpty() @MaxLength(40) userCode!: string;
}

/** A program that waits for the decision of its user. */
export class DeviceRequestView {
  /** The name of its machine, as the program states it. */
  @IsString() machine!: string;
  /** The IP address from which it has asked. */
  @IsString() address!: string;
  /** The IP address of the caller, to compare. */
  @IsString() ownAddress!: string;
  /** What it wants to do. */
  @IsArray() @IsIn(TOKEN_ACTIONS, { each: true }) actions!: TokenAction[];
  /** How many days it may act for the user. */
  @IsInt() days!: number;
  /** When it has asked, in ISO 8601. */
  @IsString() createdAt!: string;
  /** When the code stops being valid, in ISO 8601. */
  @IsString() expiresAt!: string;
}

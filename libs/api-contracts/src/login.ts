import { IsArray, IsBoolean, IsInt, IsNotEmpty, IsString, Matches, MaxLength } from 'class-validator';
import { Nested, Nullable, Optional } from './fields.js';

const MAX_PASSWORD_CHARS = 1024;

/** A login provider that a user may choose. */
export class LoginProviderView {
  /** The ID of the provider in the configuration. */
  @IsString() id!: string;
  /** For the button. */
  @IsString() name!: string;
}

/** GET /api/ext/login */
export class LoginView {
  /** Whether users log in here. Otherwise, the service trusts its proxy or the users of its machine. */
  @IsBoolean() enabled!: boolean;
  /** Whether there are accounts with passwords. */
  @IsBoolean() local!: boolean;
  /** Whether the first account is still to be created, with the link that the service printed at its start. */
  @IsBoolean() first!: boolean;
  /** In the order of the configuration. */
  @IsArray() @Nested(() => LoginProviderView, { each: true }) providers!: LoginProviderView[];
  /** Whether accounts can have passkeys: `login.address` is set. */
  @IsBoolean() passkeys!: boolean;
  /** Why a login over this connection is refused; absent if it is not. */
  @Optional() @IsString() refusal?: string;
}

/** POST /api/ext/login/password */
export class PasswordLoginDto {
  /** The login of the account. */
  @IsString() @IsNotEmpty() @MaxLength(100) login!: string;
  /** Its password. */
  @IsString() @MaxLength(MAX_PASSWORD_CHARS) password!: string;
}

/** POST /api/ext/login/first-account */
export class FirstAccountDto {
  /** The end of the link that the service printed. */
  @IsString() @IsNotEmpty() @MaxLength(100) secret!: string;
  /** The login of the new administrator. */
  @IsString() @IsNotEmpty() @MaxLength(100) login!: string;
  /** The display name. Default: empty. */
  @Optional() @IsString() @MaxLength(100) name?: string;
  /** At least 12 characters. */
  @IsString() @MaxLength(MAX_PASSWORD_CHARS) password!: string;
}

/** POST /api/ext/login/setup */
export class SetUpAccountDto {
  /** The login of the account. */
  @IsString() @IsNotEmpty() @MaxLength(100) login!: string;
  /** The end of the link that an administrator has sent. */
  @IsString() @IsNotEmpty() @MaxLength(100) secret!: string;
  /** At least 12 characters. */
  @IsString() @MaxLength(MAX_PASSWORD_CHARS) password!: string;
}

/** POST /api/ext/login/recovery */
export class RecoverAccountDto {
  /** The login of the account. */
  @IsString() @IsNotEmpty() @MaxLength(100) login!: string;
  /** One of the recovery codes. It can be used once. */
  @IsString() @IsNotEmpty() @MaxLength(100) code!: string;
  /** The new password, at least 12 characters. */
  @IsString() @MaxLength(MAX_PASSWORD_CHARS) password!: string;
}

/** POST /api/ext/login/own-password */
export class ChangePasswordDto {
  /** The password until now. */
  @IsString() @MaxLength(MAX_PASSWORD_CHARS) current!: string;
  /** At least 12 characters. */
  @IsString() @MaxLength(MAX_PASSWORD_CHARS) next!: string;
}

/** POST /api/ext/login/recovery-codes */
export class OwnPasswordDto {
  /** The password of the caller. */
  @IsString() @MaxLength(MAX_PASSWORD_CHARS) password!: string;
}

/** The user that has logged in. The session is in a cookie. */
export class LoggedInView {
  /** The login of the user. */
  @IsString() login!: string;
  /** The display name; may be empty. */
  @IsString() name!: string;
}

/** POST /api/ext/login/logout */
export class LoggedOutView {
  /** Where the browser ends its session at the login provider; null if there is nothing to end. */
  @Nullable() @IsString() redirect!: string | null;
}

/** Recovery codes, shown this one time only. */
export class RecoveryCodesView {
  /** Each of them sets a new password once. */
  @IsArray() @IsString({ each: true }) codes!: string[];
}

/** The path of a session. */
export class SessionPath {
  /** The ID of the session, as in the list. */
  @Matches(/^[\w-]{12}$/, { message: '$property must be the ID of a session.' }) id!: string;
}

/** A session of a user. */
export class SessionView {
  /** The ID of the session. It opens nothing. */
  @IsString() id!: string;
  /** The login of the user. */
  @IsString() login!: string;
  /** The ID of the login provider; empty for an account of the service. */
  @IsString() provider!: string;
  /** The groups that the provider reported at the login. */
  @IsArray() @IsString({ each: true }) groups!: string[];
  /** The IP address at the login. */
  @IsString() address!: string;
  /** The browser at the login, as it describes itself. */
  @IsString() agent!: string;
  /** When the user logged in, in ISO 8601. */
  @IsString() createdAt!: string;
  /** The last request, in ISO 8601. */
  @IsString() lastUsedAt!: string;
  /** When it ends in any case, in ISO 8601. */
  @IsString() expiresAt!: string;
  /** Whether it is the session of the request. */
  @IsBoolean() current!: boolean;
}

/** The path of an account. */
export class AccountPath {
  /** The login of the account. */
  @IsString() @MaxLength(100) login!: string;
}

/** POST /api/ext/accounts */
export class CreateAccountDto {
  /** Of a-z, 0-9 and `._@+-`. */
  @IsString() @IsNotEmpty() @MaxLength(100) login!: string;
  /** The display name. Default: empty. */
  @Optional() @IsString() @MaxLength(100) name?: string;
  /** Whether the user is an administrator. Default: false. */
  @Optional() @IsBoolean() admin?: boolean;
}

/** PATCH /api/ext/accounts/{login}. Absent fields stay as they are. */
export class ChangeAccountDto {
  /** The display name. */
  @Optional() @IsString() @MaxLength(100) name?: string;
  /** Whether the user is an administrator. A change ends the sessions of the user. */
  @Optional() @IsBoolean() admin?: boolean;
  /** Whether the user can't log in. A change ends the sessions of the user. */
  @Optional() @IsBoolean() disabled?: boolean;
}

/** An account of the service. */
export class AccountView {
  /** The login of the user. */
  @IsString() login!: string;
  /** The display name; may be empty. */
  @IsString() name!: string;
  /** Whether the user is an administrator. */
  @IsBoolean() admin!: boolean;
  /** Whether the user can't log in. */
  @IsBoolean() disabled!: boolean;
  /** Whether the user has set a password. */
  @IsBoolean() ready!: boolean;
  /** The number of recovery codes that are left. */
  @IsInt() recoveryCodes!: number;
  /** In ISO 8601. */
  @IsString() createdAt!: string;
}

/** An account, and the secret with which its user sets a password. */
export class AccountWithSecretView extends AccountView {
  /** The end of the link `/#/login?setup=`; valid once, for three days. Shown this one time only. */
  @IsString() secret!: string;
}

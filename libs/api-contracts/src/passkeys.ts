import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsString,
  Matches,
  MaxLength,
} from 'class-validator';
import { Nested, Nullable, Optional } from './fields.js';

const MAX_PASSWORD_CHARS = 1024;
/** The specification allows 1023 bytes. */
const MAX_ID_CHARS = 1364;
const MAX_ANSWER_CHARS = 16_384;

const IsBase64Url = (maxChars: number): PropertyDecorator =>
  Matches(new RegExp(`^[\\w-]{1,${maxChars}}$`), { message: '$property must be Base64url text.' });

/** The ways in which a browser can reach an authenticator. */
export const PASSKEY_TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

/** The options of `navigator.credentials.get`, in the form of WebAuthn for JSON. The challenge is also in a cookie. */
export class PasskeyLoginOptionsView {
  /** Random, in Base64url. It can be answered once, for five minutes. */
  @IsString() challenge!: string;
  /** The host name of `login.address`. */
  @IsString() rpId!: string;
  /** How long the user may take, in milliseconds. */
  @IsInt() timeout!: number;
  /** The authenticator must verify the user, with a PIN or a fingerprint for example. */
  @IsIn(['required']) userVerification!: 'required';
}

/** POST /api/ext/login/passkey: the answer of an authenticator. */
export class PasskeyLoginDto {
  /** The ID of the credential. */
  @IsBase64Url(MAX_ID_CHARS) id!: string;
  /** As the browser returned it. */
  @IsBase64Url(MAX_ANSWER_CHARS) clientDataJSON!: string;
  /** As the browser returned it. */
  @IsBase64Url(MAX_ANSWER_CHARS) authenticatorData!: string;
  /** As the browser returned it. */
  @IsBase64Url(MAX_ANSWER_CHARS) signature!: string;
  /** As the browser returned it. */
  @IsBase64Url(128) userHandle!: string;
}

/** POST /api/ext/login/passkeys/options */
export class BeginPasskeyDto {
  /** The password of the caller: an open session alone can't add a passkey. */
  @IsString() @MaxLength(MAX_PASSWORD_CHARS) password!: string;
}

/** The service, as the authenticator shows it. */
export class PasskeyPartyView {
  /** The host name of `login.address`. */
  @IsString() id!: string;
  /** The display name. */
  @IsString() name!: string;
}

/** The user, as the authenticator shows them. */
export class PasskeyUserView {
  /** The handle of the account, in Base64url. */
  @IsString() id!: string;
  /** The login. */
  @IsString() name!: string;
  /** The display name. */
  @IsString() displayName!: string;
}

/** A kind of keys. */
export class PasskeyParametersView {
  /** Always `public-key`. */
  @IsIn(['public-key']) type!: 'public-key';
  /** The number of an algorithm in COSE: -7 is ES256, -8 is EdDSA, -257 is RS256. */
  @IsInt() alg!: number;
}

/** A passkey that the account has already. */
export class PasskeyDescriptorView {
  /** Always `public-key`. */
  @IsIn(['public-key']) type!: 'public-key';
  /** The ID of the credential. */
  @IsString() id!: string;
}

/** Which authenticators are accepted. */
export class PasskeySelectionView {
  /** The passkey names the account itself. */
  @IsIn(['required']) residentKey!: 'required';
  /** The same for older browsers. */
  @IsBoolean() requireResidentKey!: boolean;
  /** The authenticator must verify the user. */
  @IsIn(['required']) userVerification!: 'required';
}

/** The options of `navigator.credentials.create`, in the form for JSON. The challenge is also in a cookie. */
export class PasskeyCreationOptionsView {
  /** Random, in Base64url. It can be answered once, for five minutes. */
  @IsString() challenge!: string;
  /** The service. */
  @Nested(() => PasskeyPartyView) rp!: PasskeyPartyView;
  /** The user. */
  @Nested(() => PasskeyUserView) user!: PasskeyUserView;
  /** The kinds of keys, the preferred one first. */
  @IsArray() @Nested(() => PasskeyParametersView, { each: true }) pubKeyCredParams!: PasskeyParametersView[];
  /** How long the user may take, in milliseconds. */
  @IsInt() timeout!: number;
  /** The passkeys that the account has, of which an authenticator makes no second one. */
  @IsArray() @Nested(() => PasskeyDescriptorView, { each: true }) excludeCredentials!: PasskeyDescriptorView[];
  /** Which authenticators are accepted. */
  @Nested(() => PasskeySelectionView) authenticatorSelection!: PasskeySelectionView;
  /** The maker of the authenticator does not matter. */
  @IsIn(['none']) attestation!: 'none';
}

/** POST /api/ext/login/passkeys: a new key pair of an authenticator. */
export class AddPasskeyDto {
  /** The name by which the user recognizes it. */
  @IsString() @IsNotEmpty() @MaxLength(60) name!: string;
  /** The ID of the credential. */
  @IsBase64Url(MAX_ID_CHARS) id!: string;
  /** As the browser returned it. */
  @IsBase64Url(MAX_ANSWER_CHARS) clientDataJSON!: string;
  /** As the browser returned it. */
  @IsBase64Url(MAX_ANSWER_CHARS) attestationObject!: string;
  /** How the browser can reach the authenticator. Default: not known. */
  @Optional() @IsArray() @ArrayMaxSize(10) @IsIn(PASSKEY_TRANSPORTS, { each: true }) transports?: string[];
}

/** The path of a passkey. */
export class PasskeyPath {
  /** The ID of the credential, as in the list. */
  @IsBase64Url(MAX_ID_CHARS) id!: string;
}

/** A passkey of the caller. */
export class PasskeyView {
  /** The ID of the credential. */
  @IsString() id!: string;
  /** As the user has named it. */
  @IsString() name!: string;
  /** Whether other devices of the user may have it as well. */
  @IsBoolean() synced!: boolean;
  /** Whether it is refused, because its counter went back: a copy of the authenticator may exist. */
  @IsBoolean() refused!: boolean;
  /** In ISO 8601. */
  @IsString() createdAt!: string;
  /** The last login, in ISO 8601; null before the first. */
  @Nullable() @IsString() lastUsedAt!: string | null;
}

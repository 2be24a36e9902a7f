import { Type } from 'class-transformer';
import {
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

const IsIssuer = (): PropertyDecorator =>
  ValidateBy({
    name: 'isIssuer',
    validator: {
      validate: (value: unknown) => {
        if (typeof value !== 'string' || !URL.canParse(value)) return false;
        const { protocol, hostname, username, search, hash } = new URL(value);
        if (username !== '' || search !== '' || hash !== '') return false;
        return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname));
      },
      defaultMessage: (args) => `${args?.property} must be an https URL without a query`,
    },
  });

/** A login provider that speaks OpenID Connect. */
export class LoginProviderSection {
  /** In addresses, and before the logins of its users. */
  @Matches(/^[a-z0-9][a-z0-9-]{0,30}$/, { message: '$property must be 1 to 31 characters of a-z, 0-9 and "-"' })
  id!: string;
  /** For the button of the login page. */
  @IsString() @IsNotEmpty() name!: string;
  @IsIssuer() issuer!: string;
  @IsString() @IsNotEmpty() clientId!: string;
  /** A file with the secret of the client. Absent: a public client. */
  @IsOptional() @IsString() @IsNotEmpty() clientSecretFile?: string;
  /** Scopes besides openid. */
  @IsArray() @IsString({ each: true }) scopes: string[] = ['profile', 'email'];
  /** The claim with the login. */
  @IsString() @IsNotEmpty() loginClaim = 'preferred_username';
  /** The claim with the groups. Absent: users have no groups. */
  @IsOptional() @IsString() @IsNotEmpty() groupsClaim?: string;
}

/** Passkeys are bound to a name; browsers accept neither IP addresses nor, except for localhost, plain HTTP. */
const IsServiceAddress = (): PropertyDecorator =>
  ValidateBy({
    name: 'isServiceAddress',
    validator: {
      validate: (value: unknown) => {
        if (typeof value !== 'string' || !URL.canParse(value)) return false;
        const { protocol, hostname, origin, href } = new URL(value);
        if (href !== `${origin}/`) return false;
        return protocol === 'http:' ? hostname === 'localhost' : protocol === 'https:' && isName(hostname);
      },
      defaultMessage: (args) =>
        `${args?.property} must be an address such as https://headgate.example.org, with a name and without a path`,
    },
  });

/** Whether it is not an IP address. The parser of URLs has turned every form of IPv4 into digits and dots. */
const isName = (hostname: string): boolean => !hostname.startsWith('[') && !/^[\d.]+$/.test(hostname);

/** Users who log in at this service. */
export class LoginSection {
  /** The address by which browsers reach the service. Passkeys are bound to it. Absent: there are no passkeys. */
  @IsOptional() @IsServiceAddress() address?: string;
  /** Whether there are accounts with passwords. */
  @IsBoolean() local = true;
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => LoginProviderSection)
  @ArrayUnique((provider: LoginProviderSection) => provider.id, { message: '$property must have different ids' })
  providers: LoginProviderSection[] = [];
  /** How long a session lasts without a request. */
  @IsInt() @Min(5) @Max(10_080) idleMinutes = 120;
  /** How long a session lasts in any case. */
  @IsInt() @Min(1) @Max(720) hours = 12;
  /** The file of the key with which replicas seal logins in progress. Only with store.kind cluster. */
  @IsOptional() @IsString() @IsNotEmpty() keyFile?: string;
  /** Whether the identity headers of the trusted proxies are accepted as well. */
  @IsBoolean() proxyIdentity = false;
}

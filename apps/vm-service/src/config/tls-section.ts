import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  Equals,
  IsArray,
  IsBoolean,
  IsEmail,
  IsIn,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { IsListenAddress } from '@headgate/nest-kit';

/** Names of hosts, without wildcards, which need a challenge in the DNS. */
const DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;

const IsDirectory = (): PropertyDecorator =>
  ValidateBy({
    name: 'isDirectory',
    validator: {
      validate: (value: unknown) => {
        if (typeof value !== 'string' || !URL.canParse(value)) return false;
        const { protocol, username, hash } = new URL(value);
        return protocol === 'https:' && username === '' && hash === '';
      },
      defaultMessage: (args) => `${args?.property} must be an https URL`,
    },
  });

/** The account at an authority that knows its customers. */
export class ExternalAccountSection {
  /** The ID that the authority has given. */
  @IsString() @IsNotEmpty() keyId!: string;
  /** A file with the key that the authority has given, in Base64url. */
  @IsString() @IsNotEmpty() keyFile!: string;
}

/** An authority that issues and renews the certificate (ACME). */
export class AcmeSection {
  /** The directory of the authority. */
  @IsDirectory() directory = 'https://acme-v02.api.letsencrypt.org/directory';
  /** The names of the certificate. The service answers to them as to `allowedHosts`. */
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @ArrayUnique()
  @Matches(DOMAIN, { each: true, message: '$property must be names such as vms.example.org, in lower case' })
  domains!: string[];
  /** To which the authority sends warnings. */
  @IsOptional() @IsEmail() email?: string;
  /** Whether the operator agrees to the terms of the authority. */
  @Equals(true, { message: '$property must be true: read the terms of the authority first' }) agreeToTerms!: boolean;
  /** How the authority checks the names: on port 80, or on port 443. */
  @IsIn(['http-01', 'tls-alpn-01']) challenge: 'http-01' | 'tls-alpn-01' = 'http-01';
  @IsOptional() @ValidateNested() @Type(() => ExternalAccountSection) externalAccount?: ExternalAccountSection;
  /** A PEM file with the authorities that sign the directory. Absent: the usual ones. */
  @IsOptional() @IsString() @IsNotEmpty() caFile?: string;
}

/** The certificate of the service. With it, the service speaks TLS only. */
export class TlsSection {
  /** A PEM file with the certificate, followed by those of the authorities that signed it. */
  @IsOptional() @IsString() @IsNotEmpty() certificate?: string;
  /** A PEM file with the key of the certificate, without a passphrase. */
  @IsOptional() @IsString() @IsNotEmpty() key?: string;
  /** The service requests its certificate itself, instead of these files. */
  @IsOptional() @ValidateNested() @Type(() => AcmeSection) acme?: AcmeSection;
  /**
   * Whether responses have Strict-Transport-Security, with which browsers use HTTPS for every port of this host name.
   * Absent: if the port is 443.
   */
  @IsOptional() @IsBoolean() hsts?: boolean;
  /** HOST:PORT of a second listener, which redirects HTTP to HTTPS. Absent: none. */
  @IsOptional() @IsListenAddress() redirectFrom?: string;
}

/** What the fields of the section must have in common. */
export function problemsOfTls(tls: TlsSection | undefined, storeKind: 'file' | 'cluster'): string[] {
  if (!tls) return [];
  const { certificate, key, acme, redirectFrom } = tls;
  if (!acme)
    return [
      ...(certificate === undefined ? ['tls.certificate must be a file, unless there is tls.acme'] : []),
      ...(key === undefined ? ['tls.key must be a file, unless there is tls.acme'] : []),
    ];
  const problems = [];
  if (certificate !== undefined || key !== undefined)
    problems.push('tls must have either acme, or certificate and key');
  if (acme.challenge === 'http-01' && redirectFrom === undefined)
    problems.push('tls.acme with http-01 needs tls.redirectFrom, such as 0.0.0.0:80');
  if (storeKind === 'cluster')
    problems.push('tls.acme needs store.kind file: replicas do not share challenges; use cert-manager instead');
  return problems;
}

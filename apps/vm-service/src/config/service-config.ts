import { EVERYWHERE, Roles } from '@headgate/access';
import { ROLES, type Role } from '@headgate/domain-contracts';
import { isFolderPath } from '@headgate/domain-contracts';
import { ConfigError, IsListenAddress, parseSection, TrustedProxies } from '@headgate/nest-kit';
import { parsePublicKey } from '@headgate/plugins';
import { FACILITIES, TRANSPORTS, type Facility, type Transport } from '@headgate/syslog';
import { Type } from 'class-transformer';
import {
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
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
import { ContextSection } from './context-section.js';
import { LoginSection } from './login-section.js';
import { problemsOfTls, TlsSection } from './tls-section.js';
import { parseContextSettings, type SettingsOfKinds } from './context-settings.js';

const IsFolderOrEverything = (): PropertyDecorator =>
  ValidateBy({
    name: 'isFolderOrEverything',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && (value === EVERYWHERE || isFolderPath(value)),
      defaultMessage: (args) => `${args?.property} must be the path of a folder such as prod/web, or ${EVERYWHERE}`,
    },
  });

const IsProxyList = (): PropertyDecorator =>
  ValidateBy({
    name: 'isProxyList',
    validator: {
      validate: (value: unknown) => {
        try {
          return TrustedProxies.of(value as string[]) !== undefined;
        } catch {
          return false;
        }
      },
      defaultMessage: (args) => `${args?.property} must be a list of addresses and CIDRs such as 10.0.0.0/8`,
    },
  });

const IsHeaderName = (): PropertyDecorator =>
  Matches(/^[A-Za-z0-9-]+$/, { message: '$property must be the name of a header such as Tailscale-User-Login' });

/** An image of the catalog. */
export class ImageSection {
  @IsString() @IsNotEmpty() name!: string;
  @IsString() description = '';
  @IsString() @IsNotEmpty() containerDisk!: string;
  @IsString() defaultUser = '';
}

const IsPublicKey = (): PropertyDecorator =>
  ValidateBy({
    name: 'isPublicKey',
    validator: {
      validate: (value: unknown) => {
        try {
          return typeof value === 'string' && parsePublicKey(value) !== undefined;
        } catch {
          return false;
        }
      },
      defaultMessage: (args) => `${args?.property} must be an Ed25519 public key in Base64 (DER)`,
    },
  });

/** A publisher of plugins whom the operator trusts. */
export class PublisherSection {
  /** The name that indexes use. */
  @Matches(/^[a-z0-9][a-z0-9-]{0,62}$/, { message: '$property must be a name of a-z, 0-9 and "-"' })
  name!: string;
  /** An Ed25519 public key: SubjectPublicKeyInfo in DER, in Base64. */
  @IsPublicKey() key!: string;
}

/** Where plugins come from, besides those that are bundled. */
export class PluginsSection {
  /** URLs of plugin indexes. */
  @IsArray()
  @Matches(/^https?:\/\/[^\s/@]+(\/\S*)?$/, { each: true, message: '$property must be http or https URLs' })
  indexes: string[] = [];
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => PublisherSection)
  @ArrayUnique((publisher: PublisherSection) => publisher.name, { message: '$property must have different names' })
  publishers: PublisherSection[] = [];
}

/** A role of a user, a group or an API token, in a folder or a context. */
export class RoleSection {
  @IsOptional() @IsString() @IsNotEmpty() login?: string;
  @IsOptional() @IsString() @IsNotEmpty() group?: string;
  /** The ID of an API token. */
  @IsOptional() @Matches(/^[0-9A-Za-z]{10}$/, { message: '$property must be the ID of an API token' }) token?: string;
  /** The path of a folder; / is everywhere. */
  @IsOptional() @IsFolderOrEverything() folder?: string;
  /** The name of a context, instead of a folder. */
  @IsOptional() @IsString() @IsNotEmpty() context?: string;
  @IsIn(ROLES) role!: Role;
}

/** Where the folders and the tasks are kept. */
export class StoreSection {
  /** `file`: in the registry, for one service. `cluster`: in custom resources, which several replicas share. */
  @IsIn(['file', 'cluster']) kind: 'file' | 'cluster' = 'file';
  /** cluster: the namespace of the objects. */
  @Matches(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, { message: '$property must be the name of a namespace' })
  namespace = 'headgate';
  /** cluster: the kubeconfig file; by default KUBECONFIG, ~/.kube/config or the pod's service account. */
  @IsOptional() @IsString() @IsNotEmpty() kubeconfig?: string;
  /** cluster: the context in that file; by default its current one. */
  @IsOptional() @IsString() @IsNotEmpty() kubeContext?: string;
  /** cluster: after this time without a sign of life, the other replicas continue the work of a replica. */
  @IsInt() @Min(3) @Max(300) leaseSeconds = 15;
}

/** Contexts that administrators add over the API while the service runs. */
export class AddedContextsSection {
  /**
   * Whether they can be added and are opened. Absent: by the administrators that the configuration names, or else from
   * this machine only.
   */
  @IsOptional() @IsBoolean() allow?: boolean;
  /** Files, sockets and folders on this machine that they may name, besides the usual sockets of Incus and LXD. */
  @IsArray()
  @Matches(/^\/[^\0]*$/, { each: true, message: '$property must be absolute paths' })
  paths: string[] = [];
}

/** A server of syslog that gets the entries of the journal. */
export class SyslogSection {
  /** HOST:PORT of the server; the host may be a name. */
  @Matches(
    /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?):([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/,
    {
      message: '$property must be HOST:PORT such as logs.example.org:6514 or [2001:db8::1]:514',
    },
  )
  address!: string;
  /** `tls` encrypts and checks the server; `tcp` and `udp` are for trusted networks. */
  @IsIn(TRANSPORTS) transport: Transport = 'tls';
  /** A PEM file with the authority of the server's certificate. Absent: the authorities of the system. */
  @IsOptional() @IsString() @IsNotEmpty() ca?: string;
  @IsIn(Object.keys(FACILITIES)) facility: Facility = 'authpriv';
  /** The host name in the messages. Absent: that of the machine. */
  @IsOptional() @Matches(/^[!-~]{1,255}$/, { message: '$property must have ASCII characters only' }) hostname?: string;
}

/** How much of the audit log is kept, and where else it goes. */
export class JournalSection {
  @IsInt() @Min(1000) @Max(10_000_000) entries = 100_000;
  @IsInt() @Min(1) @Max(3660) days = 400;
  @IsOptional() @ValidateNested() @Type(() => SyslogSection) syslog?: SyslogSection;
}

/** The history of the fleet: the list as of any moment. */
export class HistorySection {
  /** Whether it is recorded and can be read. */
  @IsBoolean() record = true;
  @IsInt() @Min(1) @Max(365) days = 30;
  /** How much disk it takes at most, in MiB. */
  @IsInt() @Min(32) @Max(1_048_576) mebibytes = 300;
}

/** The repositories that administrators add for backups. */
export class BackupsSection {
  /** Folders in which repositories may be. Empty: none may be added or used. */
  @IsArray()
  @Matches(/^\/[^\0]*$/, { each: true, message: '$property must be absolute paths' })
  folders: string[] = [];
}

/** The configuration file of the VM service. Every key has a default; docs/operate.md lists them. */
export class ServiceConfig {
  /** HOST:PORT */
  @IsListenAddress()
  listen = '127.0.0.1:8006';
  /** Absent: the service speaks plain HTTP, for this machine or a proxy. */
  @IsOptional() @ValidateNested() @Type(() => TlsSection) tls?: TlsSection;
  /** Directory of the registry file. */
  @IsOptional() @IsString() @IsNotEmpty() dataDir?: string;
  /** Whether /metrics exposes all series. */
  @IsBoolean() metrics = false;
  /**
   * Logins of administrators. Empty: there is no allowlist and everyone is an administrator. SVC_ADMINS overrides it.
   */
  @IsArray() @IsString({ each: true }) admins: string[] = [];
  /** Proxies whose identity headers are trusted. SVC_TRUSTED_PROXIES overrides it. */
  @IsProxyList() trustedProxies: string[] = [...TrustedProxies.loopback];
  /** User IDs on this machine that are trusted besides root's and the service's own. SVC_TRUSTED_UIDS overrides it. */
  @IsArray() @IsInt({ each: true }) @Min(0, { each: true }) trustedUids: number[] = [];
  /** Whether every user of this machine is trusted. */
  @IsBoolean() open = false;
  /** Host headers besides the loopback names and the listen address. SVC_ALLOWED_HOSTS overrides it. */
  @IsArray() @IsString({ each: true }) allowedHosts: string[] = [];
  /** Private addresses, ranges and hosts from which images may be imported. SVC_IMPORT_ALLOW overrides it. */
  @IsArray() @IsString({ each: true }) importAllow: string[] = [];
  /** Roles per folder. Empty: roles are off. */
  @IsArray() @ValidateNested({ each: true }) @Type(() => RoleSection) roles: RoleSection[] = [];
  /** Users who log in here. Absent: there is no login. */
  @IsOptional() @ValidateNested() @Type(() => LoginSection) login?: LoginSection;
  @ValidateNested() @Type(() => StoreSection) store: StoreSection = new StoreSection();
  @ValidateNested() @Type(() => JournalSection) journal = new JournalSection();
  @ValidateNested() @Type(() => HistorySection) history = new HistorySection();
  @ValidateNested() @Type(() => AddedContextsSection) addedContexts = new AddedContextsSection();
  @ValidateNested() @Type(() => BackupsSection) backups = new BackupsSection();
  /** Private addresses, ranges and hosts to which webhooks may be sent. SVC_WEBHOOK_ALLOW overrides it. */
  @IsArray() @IsString({ each: true }) webhookAllow: string[] = [];
  @IsHeaderName() loginHeader = 'Tailscale-User-Login';
  @IsHeaderName() nameHeader = 'Tailscale-User-Name';
  /** A header with the groups of the caller, separated by commas. Absent: groups are not read from requests. */
  @IsOptional() @IsHeaderName() groupsHeader?: string;
  /** How many days after a user's last login their groups count for their tokens, schedules and webhooks. 0: never. */
  @IsInt() @Min(0) @Max(90) groupDays = 7;
  /** A catalog file that replaces the built-in one. */
  @IsOptional() @IsString() @IsNotEmpty() catalogFile?: string;
  /** Host and port of a registry that mirrors the container disks of the catalog. */
  @IsOptional() @IsString() @IsNotEmpty() imageRegistry?: string;
  @IsArray() @ValidateNested({ each: true }) @Type(() => ImageSection) images: ImageSection[] = [];
  @ValidateNested() @Type(() => PluginsSection) plugins: PluginsSection = new PluginsSection();
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ContextSection)
  @ArrayUnique((context: ContextSection) => context.name, { message: '$property must have different names' })
  contexts: ContextSection[] = [];
}

/**
 * @param kinds the kinds of backends that parse the settings of their contexts
 * @throws ConfigError naming every key that is wrong
 */
export function parseServiceConfig(raw: unknown, source: string, kinds: SettingsOfKinds): Readonly<ServiceConfig> {
  const parsed = parseContextSettings(raw, source, kinds);
  const problems = [...parsed.problems];
  try {
    const config = parseSection(ServiceConfig, parsed.raw, '', source);
    problems.push(...problemsOfRoles(config), ...problemsOfLogin(config), ...problemsOfSyslog(config));
    problems.push(...problemsOfTls(config.tls, config.store.kind));
    if (problems.length === 0) return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.unshift(...error.problems);
  }
  throw new ConfigError(source, problems);
}

const countOf = (...values: readonly unknown[]): number => values.filter((value) => value !== undefined).length;

function problemsOfLogin({ login, store }: Readonly<ServiceConfig>): string[] {
  if (!login) return [];
  const problems = [];
  if (!login.local && login.providers.length === 0) problems.push('login must have providers, or local must be true');
  if (store.kind === 'cluster' && login.keyFile === undefined)
    problems.push(
      'login needs login.keyFile with store.kind cluster: a login that one replica has begun ends at another one',
    );
  return problems;
}

function problemsOfSyslog({ journal: { syslog } }: Readonly<ServiceConfig>): string[] {
  return syslog?.ca !== undefined && syslog.transport !== 'tls' ? ['journal.syslog.ca needs transport: tls'] : [];
}

function problemsOfRoles({ roles, admins }: Readonly<ServiceConfig>): string[] {
  if (roles.length === 0) return [];
  const problems = roles.flatMap(({ login, group, token, folder, context }, index) => [
    ...(countOf(login, group, token) === 1 ? [] : [`roles[${index}] must have either a login, a group or a token`]),
    ...(countOf(folder, context) === 1 ? [] : [`roles[${index}] must have either a folder or a context`]),
  ]);
  const isManaged =
    admins.length > 0 || roles.some(({ login }) => login !== undefined && new Roles(roles).isAdmin({ login }));
  return isManaged
    ? problems
    : [...problems, `roles must make someone admin in ${EVERYWHERE}, or admins must not be empty`];
}

export { ConfigError };

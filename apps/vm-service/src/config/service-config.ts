import { EVERYWHERE, ROLES, Roles, type Role } from '@headgate/access';
import { isContextName, isFolderPath } from '@headgate/domain-contracts';
import { ConfigError, IsListenAddress, parseSection, TrustedProxies } from '@headgate/nest-kit';
import { parsePublicKey } from '@headgate/plugins';
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

const IsContextNameKey = (): PropertyDecorator =>
  ValidateBy({
    name: 'isContextName',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && isContextName(value),
      defaultMessage: (args) => `${args?.property} must be a name of letters, digits and . _ @ : / -`,
    },
  });

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

/** Builds of disks in a cluster, from bootable container images. */
export class DiskBuildsSection {
  /** Repositories such as quay.io/fedora/fedora-bootc, or paths of repositories that end in /; * allows any image. */
  @IsArray() @IsString({ each: true }) @IsNotEmpty({ each: true }) images!: string[];
  /** An image with bootc that runs instead of the built image. */
  @IsOptional() @IsString() @IsNotEmpty() builderImage?: string;
  /** A Secret with the credentials of registries, in the namespaces of the VMs. */
  @IsOptional() @IsString() @IsNotEmpty() pullSecret?: string;
  @IsOptional() @IsInt() @Min(1) @Max(1440) timeoutMinutes?: number;
}

/** One backend. The keys after `kind` are for the kinds that they name. */
export class ContextSection {
  /** The operator's name for it. */
  @IsContextNameKey() name!: string;
  /** A key of BACKEND_KINDS, which is checked when the contexts are opened. */
  @IsString() @IsNotEmpty() kind!: string;
  /** libvirt: the URI of the connection, such as qemu:///system or qemu+ssh://root@host/system. */
  @IsOptional()
  @Matches(/^[a-z]+(\+[a-z]+)?:\/\/\S*$/, { message: '$property must be a libvirt URI such as qemu:///system' })
  uri?: string;
  /** libvirt: the host name or address at which other hosts reach this one for migrations, and where its QEMU accepts them. */
  @IsOptional()
  @Matches(/^[A-Za-z0-9][A-Za-z0-9.:-]*$/, { message: '$property must be a host name or an address' })
  migrationAddress?: string;
  /** libvirt: how running VMs come from and go to other machines: `tls`, or `insecure` on a network that everyone is trusted on. By default they don't. */
  @IsOptional()
  @IsIn(['tls', 'insecure'])
  migrationTransport?: 'tls' | 'insecure';
  /** kubevirt: the kubeconfig file; by default KUBECONFIG, ~/.kube/config or the pod's service account. */
  @IsOptional() @IsString() @IsNotEmpty() kubeconfig?: string;
  /** kubevirt: the context in that file; by default its current one. */
  @IsOptional() @IsString() @IsNotEmpty() kubeContext?: string;
  /** kubevirt: the URL of CDI's upload proxy; by default the one that CDI reports. */
  @IsOptional()
  @Matches(/^https?:\/\/[^\s@#?]+$/, { message: '$property must be a URL such as https://cdi-uploadproxy.example.org' })
  uploadProxy?: string;
  /** kubevirt: a file with certificate authorities, in PEM, that the upload proxy's certificate may have. */
  @IsOptional() @IsString() @IsNotEmpty() uploadProxyCa?: string;
  /** kubevirt: allows builds in the cluster, in privileged pods. By default disks are built on the machine of the service. */
  @IsOptional() @ValidateNested() @Type(() => DiskBuildsSection) diskBuilds?: DiskBuildsSection;
  /** sandbox: the initial number of simulated instances. */
  @IsOptional() @IsInt() @Min(0) @Max(10_000) instances?: number;
}

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

/** A role of a user, or of an API token, in a folder. */
export class RoleSection {
  @IsOptional() @IsString() @IsNotEmpty() login?: string;
  /** The ID of an API token. */
  @IsOptional() @Matches(/^[0-9A-Za-z]{10}$/, { message: '$property must be the ID of an API token' }) token?: string;
  /** The path of a folder; / is everywhere. */
  @IsFolderOrEverything() folder!: string;
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

/** How much of the audit log is kept. */
export class JournalSection {
  @IsInt() @Min(1000) @Max(10_000_000) entries = 100_000;
  @IsInt() @Min(1) @Max(3660) days = 400;
}

/** The configuration file of the VM service. Every key has a default; docs/operate.md lists them. */
export class ServiceConfig {
  /** HOST:PORT */
  @IsListenAddress()
  listen = '127.0.0.1:8006';
  /** Directory of the registry file. */
  @IsOptional() @IsString() @IsNotEmpty() dataDir?: string;
  /** Whether /metrics exposes all series. */
  @IsBoolean() metrics = false;
  /** Logins of administrators. Empty: there is no allowlist and everyone is an administrator. SVC_ADMINS overrides it. */
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
  @ValidateNested() @Type(() => StoreSection) store: StoreSection = new StoreSection();
  @ValidateNested() @Type(() => JournalSection) journal = new JournalSection();
  /** Private addresses, ranges and hosts to which webhooks may be sent. SVC_WEBHOOK_ALLOW overrides it. */
  @IsArray() @IsString({ each: true }) webhookAllow: string[] = [];
  @IsHeaderName() loginHeader = 'Tailscale-User-Login';
  @IsHeaderName() nameHeader = 'Tailscale-User-Name';
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

/** @throws ConfigError naming every key that is wrong */
export function parseServiceConfig(raw: unknown, source: string): Readonly<ServiceConfig> {
  const config = parseSection(ServiceConfig, raw, '', source);
  const problems = problemsOfRoles(config);
  if (problems.length > 0) throw new ConfigError(source, problems);
  return config;
}

function problemsOfRoles({ roles, admins }: Readonly<ServiceConfig>): string[] {
  if (roles.length === 0) return [];
  const problems = roles.flatMap(({ login, token }, index) =>
    (login === undefined) === (token === undefined) ? [`roles[${index}] must have either a login or a token`] : [],
  );
  const isManaged =
    admins.length > 0 || roles.some(({ login }) => login !== undefined && new Roles(roles).isAdmin(login));
  return isManaged
    ? problems
    : [...problems, `roles must make someone admin in ${EVERYWHERE}, or admins must not be empty`];
}

export { ConfigError };

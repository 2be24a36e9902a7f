/** The objects of the REST API that Incus and LXD share, as far as this adapter reads them. */

export type Config = Readonly<Record<string, string>>;
export type Device = Readonly<Record<string, string>>;
export type Devices = Readonly<Record<string, Device>>;

/** https://linuxcontainers.org/incus/docs/main/rest-api-spec/ `Instance` */
export interface InstanceObject {
  readonly name: string;
  readonly project: string;
  readonly type: 'container' | 'virtual-machine';
  readonly status: string;
  readonly description: string;
  readonly architecture: string;
  readonly ephemeral: boolean;
  readonly stateful: boolean;
  readonly profiles: readonly string[];
  readonly config: Config;
  readonly devices: Devices;
  readonly expanded_config: Config;
  readonly expanded_devices: Devices;
  readonly created_at: string;
  readonly last_used_at: string;
  /** The member of a cluster, or `none` on a server without one. */
  readonly location: string;
}

export interface OperationObject {
  readonly id: string;
  readonly class: 'task' | 'websocket' | 'token';
  readonly description: string;
  readonly status: string;
  /** 103 running, 200 success, 400 failure, 401 canceled. */
  readonly status_code: number;
  /** Paths of the objects that it works on, by their kind. */
  readonly resources: Readonly<Record<string, readonly string[]>> | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly may_cancel: boolean;
  readonly err: string;
  readonly location: string;
}

export interface ServerObject {
  readonly api_extensions: readonly string[];
  readonly auth: 'trusted' | 'untrusted';
  readonly config?: Readonly<Record<string, unknown>>;
  readonly environment?: {
    readonly server: string;
    readonly server_version: string;
    readonly server_name: string;
    readonly server_clustered: boolean;
    readonly kernel_version: string;
    /** Those whose programs it can run, its own first. */
    readonly architectures?: readonly string[];
    readonly driver: string;
    readonly driver_version: string;
    readonly os_name?: string;
    readonly os_version?: string;
    readonly storage_supported_drivers?: readonly { readonly Name: string }[];
  };
}

/** A message of the events socket. */
export interface EventObject {
  readonly type: 'lifecycle' | 'operation' | 'logging';
  /** ISO 8601. */
  readonly timestamp: string;
  readonly project?: string;
  readonly location?: string;
  readonly metadata: unknown;
}

/** The metadata of a lifecycle event. */
export interface LifecycleObject {
  /** A word such as `instance-started`. */
  readonly action: string;
  /** The path of the object, such as `/1.0/instances/web`, which may have the project as its query. */
  readonly source: string;
  readonly context?: Readonly<Record<string, unknown>> | null;
}

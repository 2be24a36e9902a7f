import { INSTANCE_KINDS, POWER_ACTIONS, type InstanceKind } from '@headgate/domain-contracts';
import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import {
  IsContextName,
  IsCountText,
  IsFolderPath,
  IsInstanceName,
  IsMoment,
  IsSwitch,
  IsWord,
  Optional,
} from './fields.js';

/** `{ns}` and `{name}` of a path. */
export class InstancePath {
  /** The namespace of the instance. */
  @IsInstanceName() ns!: string;
  /** The name of the instance. */
  @IsInstanceName() name!: string;
}

/** `{ns}`, `{name}` and `{port}` of a path. */
export class PortPath extends InstancePath {
  /** The TCP port of the guest. */
  @IsCountText(1, 65_535) port!: string;
}

/** `{ns}`, `{name}` and `{action}` of the path of a VM. */
export class VmActionPath extends InstancePath {
  /**
   * The action: `start` is power on, `stop` a graceful shutdown, `pause` freezes the guest. `migrate` has a route of
   * its own.
   */
  @IsWord(POWER_ACTIONS) action!: string;
}

/** `{ns}`, `{name}` and `{action}` of the path of a container. */
export class ContainerActionPath extends InstancePath {
  /** The action. `stop` deletes the pod and keeps the data volume. */
  @IsWord(['start', 'stop']) action!: string;
}

/** Chooses between instances of the same name in several contexts. */
export class ContextQuery {
  /** Only this context. Needed if several contexts have an instance of the same name. */
  @Optional() @IsContextName() context?: string;
}

/** The body of an action that takes none: `{}` and no body are the same, and any field is refused. */
export class EmptyBody {}

/** The query of every POST and DELETE: `dryRun=true` returns the plan and changes nothing. */
export class ChangeQuery extends ContextQuery {
  /** Whether to return the plan and change nothing. Default false. */
  @Optional() @IsSwitch() dryRun?: 'true' | 'false';
}

/** The query of the power actions. */
export class PowerQuery extends ChangeQuery {
  /** Powers the VM off instead of asking the guest to shut down. */
  @Optional() @IsSwitch() force?: 'true' | 'false';
}

/** The query of a disk export. */
export class ExportQuery extends ContextQuery {
  /** Absent: the raw image, compressed with gzip. */
  @Optional() @IsIn(['qcow2']) format?: 'qcow2';
  /** Exports the disk of a running VM, and creates a checkpoint of this name at the same moment. */
  @Optional() @IsInstanceName() checkpoint?: string;
  /** Exports only what has changed since this checkpoint, as a qcow2 image. */
  @Optional() @IsInstanceName() since?: string;
}

/** The query of the console sockets. */
export class ConsoleQuery extends ContextQuery {
  /** Chooses between a VM and a container of the same name. Default: the VM. */
  @Optional() @IsIn(INSTANCE_KINDS) kind?: InstanceKind;
}

/** The query of a picture of a screen. */
export class ScreenQuery extends ContextQuery {
  /** The most pixels from left to right, 64 to 640; the height follows. Default: 640. Never enlarged. */
  @Optional() @IsCountText(64, 640) width?: string;
}

/** The query of the web console's page. */
export class PageQuery {
  /** The one-time token that signs a browser in, where the system does not report the users of connections. */
  @Optional() @IsString() @MaxLength(64) token?: string;
}

/** The query of the web console's script. */
export class ScriptQuery {
  /** The part that draws consoles, which is loaded when one is opened. */
  @Optional() @IsIn(['consoles']) part?: 'consoles';
}

export const SORT_FIELDS = [
  'name',
  'namespace',
  'status',
  'cpu',
  'mem',
  'disk',
  'node',
  'createdAt',
  'context',
] as const;
export type SortField = (typeof SORT_FIELDS)[number];

/** The most characters of a query `q`, as in the library instance-query. */
export const MAX_QUERY_CHARS = 2048;

/** The query of the lists. Without parameters the response is the whole list. */
export class ListQuery extends ContextQuery {
  /**
   * Words that must all occur in name, namespace, context, folder, status, node, ip or tags, and terms such as
   * `status:running,paused`, `tag:prod`, `mem>8Gi`, `folder:web/*`, `is:agent` and `not:tag:prod`. At most 2048
   * characters and 200 terms.
   */
  @Optional() @IsString() @MaxLength(MAX_QUERY_CHARS) q?: string;
  /** Only the instances in this folder and in the folders in it. */
  @Optional() @IsFolderPath() folder?: string;
  /** The name of a field; a leading "-" reverses the order. */
  @Optional() @IsIn([...SORT_FIELDS, ...SORT_FIELDS.map((field) => `-${field}`)]) sort?: SortField | `-${SortField}`;
  /** The maximum number of entries, 1 to 10000; the header Svc-Cursor then leads to the next page. */
  @Optional() @IsCountText(1, 10_000) limit?: string;
  /** The Svc-Cursor of the previous page. */
  @Optional()
  @Matches(/^[A-Za-z0-9_-]{1,1024}$/, { message: '$property must be the Svc-Cursor of the previous page.' })
  cursor?: string;
  /**
   * `true` adds the current `usage` to each entry. `only` returns just `ref` and `usage` of the measured instances.
   * Such a list has no ETag, because it changes with every sample.
   */
  @Optional() @IsIn(['true', 'only']) usage?: 'true' | 'only';
  /**
   * A time of RFC 3339: the list as it was then, from the history of the fleet. The header Svc-Gap says that nothing
   * was recorded then, and the entries are the last known ones. Without `usage`, and not for an event stream.
   */
  @Optional() @IsMoment() at?: string;
  /** Only for an event stream, where it means the same as the header Last-Event-ID. */
  @Optional() @IsString() @MaxLength(64) lastEventId?: string;
}

/** The topics of the event stream of a page. */
export const STREAM_TOPICS = ['vms', 'cts', 'usage', 'tasks', 'folders', 'contexts', 'health', 'activity'] as const;
export type StreamTopic = (typeof STREAM_TOPICS)[number];

/** The query of the event stream of a page. */
export class StreamQuery {
  /**
   * Topics, separated by commas: `vms`, `cts`, `usage`, `tasks`, `folders`, `contexts` and `health`. Without it, all
   * that the caller may read.
   */
  @Optional() @IsString() @MaxLength(200) topics?: string;
  /** The same as the header Last-Event-ID, for pages, which can't set it. */
  @Optional() @IsString() @MaxLength(64) lastEventId?: string;
}

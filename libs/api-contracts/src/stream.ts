import type { ActivityView } from './activity.js';
import type { CapabilitiesView } from './answers.js';
import type { ContainerView } from './containers.js';
import type { FoldersView } from './folders.js';
import type { UsageView } from './metrics.js';
import type { TaskView } from './tasks.js';
import type { VmView } from './vms.js';

/** The usage of one instance, as in the lists with `usage=only`. */
export interface StreamUsageView {
  readonly ref: string;
  readonly usage: UsageView;
}

/** The number of checks of the doctor by their result. */
export interface StreamHealthView {
  readonly ok: number;
  readonly warning: number;
  readonly error: number;
}

/** Whether a context can be reached, and why not. */
export interface StreamContextView {
  readonly context: string;
  readonly backend: string;
  readonly up: boolean;
  readonly reason?: string;
}

/** The data of the events of GET /api/ext/stream, by their names. */
export interface StreamEvents {
  readonly 'vms.snapshot': readonly VmView[];
  readonly 'vms.changed': VmView;
  readonly 'vms.removed': { readonly ref: string };
  readonly 'cts.snapshot': readonly ContainerView[];
  readonly 'cts.changed': ContainerView;
  readonly 'cts.removed': { readonly ref: string };
  readonly 'usage.snapshot': readonly StreamUsageView[];
  /** All usages of one context, after each reading. */
  readonly 'usage.changed': { readonly context: string; readonly usages: readonly StreamUsageView[] };
  readonly 'tasks.snapshot': readonly TaskView[];
  /** A task that was created or changed, without its log. */
  readonly 'tasks.changed': TaskView;
  /** A task that the caller may no longer read. */
  readonly 'tasks.removed': { readonly id: string };
  /** The folders without their members, whenever they or the numbers of members are different. */
  readonly 'folders.snapshot': FoldersView;
  readonly 'contexts.status': StreamContextView;
  /** The capabilities, whenever they are different. */
  readonly 'contexts.snapshot': CapabilitiesView;
  readonly 'health.snapshot': StreamHealthView;
  /** The number of actions of the last 24 hours, after each entry of the journal. */
  readonly 'activity.snapshot': ActivityView;
  /** The snapshots are complete. Values that have to be read first follow later. */
  readonly ready: object;
  /** Instead of the snapshots: the changes since the given position follow. */
  readonly resumed: object;
  /** At least every 15 seconds while nothing else is sent. */
  readonly beat: object;
}

import type { LoginKind } from '../login/kube-login-store.js';
import type { ACCOUNTS, DEVICE_LOGINS, SESSIONS, USER_GROUPS } from '../login/login-kinds.js';
import type { OwnedKind } from '../owned/kube-owned-store.js';
import type {
  MESSAGE_CHANNELS,
  MESSAGE_RULES,
  SAVED_VIEWS,
  SCHEDULED_SNAPSHOTS,
  SCHEDULES,
  SSH_KEYS,
} from '../owned/owned-kinds.js';
import type { FolderShardSpec, FolderTreeSpec } from '../folders/folder-objects.js';
import type { ReplySpec } from '../replies/kube-reply-store.js';
import type { RoleSpec } from '../roles/kube-role-store.js';
import type { SamplesSpec } from '../samples/kube-sample-exchange.js';
import type { SourceSpec } from '../sources/kube-source-store.js';
import type { TaskMembersObject, TaskSpec } from '../tasks/task-objects.js';
import type { TokenSpec } from '../tokens/kube-api-token-store.js';
import type { StoredSpec } from '../watched-objects.js';
import type { PartSpec } from '../webhooks/event-log.js';
import type { WebhookSpec } from '../webhooks/kube-webhook-store.js';

type OwnedSpec<Kind> = Kind extends OwnedKind<infer T, infer Field> ? StoredSpec & Readonly<Record<Field, T>> : never;
type LoginSpec<Kind> = Kind extends LoginKind<infer T, infer Field> ? StoredSpec & Readonly<Record<Field, T>> : never;

/** The spec that the service writes into each of its custom resources, by the plural of the resource. */
export interface StoredSpecs {
  readonly foldertrees: FolderTreeSpec;
  readonly foldershards: FolderShardSpec;
  readonly servicetasks: TaskSpec;
  readonly servicetaskmembers: TaskMembersObject['spec'];
  readonly servicetokens: StoredSpec & TokenSpec;
  readonly servicesessions: LoginSpec<typeof SESSIONS>;
  readonly serviceloginaccounts: LoginSpec<typeof ACCOUNTS>;
  readonly servicedevicelogins: LoginSpec<typeof DEVICE_LOGINS>;
  readonly serviceusergroups: LoginSpec<typeof USER_GROUPS>;
  readonly servicesources: StoredSpec & SourceSpec;
  readonly serviceviews: OwnedSpec<typeof SAVED_VIEWS>;
  readonly serviceroles: StoredSpec & RoleSpec;
  readonly serviceschedules: OwnedSpec<typeof SCHEDULES>;
  readonly servicescheduledsnapshots: OwnedSpec<typeof SCHEDULED_SNAPSHOTS>;
  readonly servicemessagechannels: OwnedSpec<typeof MESSAGE_CHANNELS>;
  readonly servicemessagerules: OwnedSpec<typeof MESSAGE_RULES>;
  readonly servicesshkeys: OwnedSpec<typeof SSH_KEYS>;
  readonly servicewebhooks: StoredSpec & WebhookSpec;
  readonly serviceevents: StoredSpec & PartSpec;
  readonly servicesamples: StoredSpec & SamplesSpec;
  readonly servicereplies: StoredSpec & ReplySpec;
}

import {
  byInstanceUid,
  byScheduleName,
  type Schedule,
  type ScheduledSnapshots,
  type ScheduledSnapshotStore,
  type ScheduleStore,
} from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';
import { SqliteJsonStore } from './sqlite-json-store.js';

/** ScheduleStore over the registry. */
export class SqliteScheduleStore extends SqliteJsonStore<Schedule> implements ScheduleStore {
  constructor(database: RegistryDatabase) {
    super(database, 'schedule', byScheduleName);
  }
}

/** ScheduledSnapshotStore over the registry. */
export class SqliteScheduledSnapshotStore
  extends SqliteJsonStore<ScheduledSnapshots>
  implements ScheduledSnapshotStore
{
  constructor(database: RegistryDatabase) {
    super(database, 'scheduled_snapshots', byInstanceUid);
  }
}

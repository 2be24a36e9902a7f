import { MAX_SHUTDOWN_TIMES, ShutdownTimes } from '@headgate/domain-contracts';
import type { RegistryDatabase } from './registry-database.js';

/** ShutdownTimes over the registry. */
export class SqliteShutdownTimes extends ShutdownTimes {
  constructor(
    private readonly database: RegistryDatabase,
    private readonly maxTimes = MAX_SHUTDOWN_TIMES,
  ) {
    super();
  }

  override record(key: string, milliseconds: number): void {
    this.database.transaction(() => {
      // The row gets a new number.
      this.database.run('INSERT OR REPLACE INTO shutdown_time (key, milliseconds) VALUES (?, ?)', key, milliseconds);
      this.database.run(
        'DELETE FROM shutdown_time WHERE number <= (SELECT number FROM shutdown_time ORDER BY number DESC LIMIT 1 OFFSET ?)',
        this.maxTimes,
      );
    });
  }

  override of(key: string): number | undefined {
    const row = this.database.get<{ milliseconds: number }>(
      'SELECT milliseconds FROM shutdown_time WHERE key = ?',
      key,
    );
    return row?.milliseconds;
  }
}

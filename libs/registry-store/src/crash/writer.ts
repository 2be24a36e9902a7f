import { RegistryDatabase } from '../registry-database.js';
import { SqliteAuditLog } from '../sqlite-audit-log.js';

// Run as a process of its own by crash.spec.ts, which kills it: writes as fast as it can and says each write that was
// acknowledged.
const log = new SqliteAuditLog(RegistryDatabase.open(process.argv[2] ?? ''));
for (let count = 1; ; count++) {
  log.append({ time: '', caller: '', action: String(count), ref: '', outcome: 'ok', message: '' });
  process.stdout.write(`${count}\n`);
}

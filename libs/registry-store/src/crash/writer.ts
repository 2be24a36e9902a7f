import { RegistryDatabase } from '../registry-database.js';
import { SqliteAuditLog } from '../sqlite-audit-log.js';

// crash.spec.ts runs this in a process of its own and kills it: it writes as fast as it can and prints the number of
// each acknowledged write.
const log = new SqliteAuditLog(new RegistryDatabase(process.argv[2] ?? '').open());
for (let count = 1; ; count++) {
  log.append({
    time: new Date().toISOString(),
    caller: '',
    action: String(count),
    ref: '',
    outcome: 'ok',
    message: '',
  });
  process.stdout.write(`${count}\n`);
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ADMINISTRATOR, Audit, DomainError, type Caller } from '@headgate/domain-contracts';
import { FixedClock, SmallDisk } from '@headgate/testing';
import { RegistryDatabase } from './registry-database.js';
import { SqliteAuditLog } from './sqlite-audit-log.js';
import { SqliteFleetAuditLog } from './sqlite-fleet-audit-log.js';

const MIB = 1024 ** 2;
const isRoot = process.getuid?.() === 0;
const suite = isRoot ? describe : describe.skip;
const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
/** The longest message: three bytes of UTF-8 for each of the 2,000 characters that are kept. */
const LONG = '€'.repeat(3000);

suite(`the reserve of the registry${isRoot ? '' : ': needs root, to mount a small disk'}`, () => {
  let folder: string;
  let file: string;
  let disk: SmallDisk;
  let database: RegistryDatabase;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-reserve-'));
    file = join(folder, 'registry.db');
    disk = new SmallDisk(folder, 64);
    database = new RegistryDatabase(file).open();
  });

  afterEach(() => {
    database.close();
    disk.unmount();
    rmSync(folder, { recursive: true });
  });

  const audit = (): Audit => new Audit(new SqliteAuditLog(database), new FixedClock());
  const count = (): number => new SqliteFleetAuditLog(database).find({ limit: 10_000 }).length;

  test('holds the longest records of 300 changes that began before the disk had no byte left', async () => {
    const gate = Promise.withResolvers<void>();
    const changes = Array.from({ length: 300 }, (_none, index) =>
      audit().of(
        ann,
        'stop',
        `vm/${index}`,
        () => gate.promise,
        () => LONG,
      ),
    );
    disk.fill();
    gate.resolve();
    await Promise.all(changes);
    expect([count(), disk.freeBytes]).toEqual([300, 0]);
    // Also after a crash: a second process would read the same.
    const other = new DatabaseSync(file, { readOnly: true });
    expect(other.prepare('SELECT count(*) AS n FROM audit').get()).toEqual({ n: 300 });
    other.close();
  });

  test('is not given to new changes when little is left, so that they are refused before they begin', async () => {
    await audit().of(ann, 'stop', 'vm/first', async () => undefined);
    disk.fill();
    let begun = 0;
    const tryMore = (): Promise<unknown> =>
      audit().of(
        ann,
        'stop',
        'vm/more',
        async () => void begun++,
        () => LONG,
      );
    let refusal: unknown;
    while (refusal === undefined) await tryMore().catch((error: unknown) => (refusal = error));
    expect(DomainError.is(refusal, 'REGISTRY_FULL')).toBe(true);
    expect(String(refusal)).toContain(folder);
    expect(begun).toBeGreaterThan(200);
    expect(count()).toBe(begun + 1);
    // The records of what runs in the background have the rest.
    database.transaction(() => {
      for (let index = 0; index < 200; index++)
        audit().append(ann, { action: '', ref: '', outcome: 'ok', message: LONG });
    });
    expect([count(), disk.freeBytes]).toEqual([begun + 201, 0]);
    disk.empty();
    await tryMore();
    expect(count()).toBe(begun + 201);
  });

  test('is built again after a restart, and by a process that was killed while it built it', () => {
    database.reserve.take()();
    const built = disk.freeBytes;
    expect(built).toBeLessThan(48 * MIB);
    database.run('INSERT INTO reserve (id, space) VALUES (1, zeroblob(8388608))');
    database.close();
    database.open();
    database.reserve.take()();
    expect(database.count('SELECT count(*) AS n FROM reserve')).toBe(0);
    // The pages of the process that was killed were used again.
    expect(disk.freeBytes).toBeGreaterThan(built - 9 * MIB);
  });

  test('is not built while the disk has less than 16 MiB, and takes nothing of them', () => {
    disk.fill(15 * MIB);
    const { freeBytes } = disk;
    for (let index = 0; index < 3; index++) {
      expect(() => database.reserve.take()).toThrow('at least 16Mi are required');
      expect(() => database.reserve.expectSpace()).toThrow('at least 16Mi are required');
    }
    expect(disk.freeBytes).toBe(freeBytes);
  });
});

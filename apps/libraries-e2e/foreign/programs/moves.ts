import {
  ADMINISTRATOR,
  Audit,
  BackendDirectory,
  DomainError,
  formatRef,
  SystemClock,
  type Backend,
  type Caller,
  type InstanceIdentity,
} from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import { InstanceRecords, MoveTask, PlanMove, ShutdownEstimates, StartMove, Throughput } from '@headgate/moves';
import { Ledger } from '@headgate/reservations';
import { TaskBoard } from '@headgate/tasks';
import { buildVm, MemoryAuditLog, MemoryBackend, MemoryShutdownTimes, MemoryTaskStore } from '@headgate/testing';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const MIB = 1024 ** 2;

class Backends extends BackendDirectory {
  constructor(private readonly backends: readonly Backend[]) {
    super();
  }
  override all(): readonly Backend[] {
    return this.backends;
  }
  override get(context: string): Backend {
    const found = this.backends.find((backend) => backend.context === context);
    if (!found) throw new DomainError('CONTEXT_NOT_FOUND', `There is no context ${context}.`);
    return found;
  }
}

/** The owner of each VM follows it to its new place. */
class Owners extends InstanceRecords {
  readonly byRef = new Map([['vm/lab/default/web', 'ann']]);

  override async carryOver(from: InstanceIdentity, to: InstanceIdentity): Promise<void> {
    const owner = this.byRef.get(from.ref);
    if (owner !== undefined) this.byRef.set(to.ref, owner);
  }
  override async forget({ ref }: InstanceIdentity): Promise<void> {
    this.byRef.delete(ref);
  }
}

async function main(): Promise<void> {
  const clock = new SystemClock();
  const [lab, other] = [new MemoryBackend('lab'), new MemoryBackend('other')];
  const web = buildVm({ diskBytes: 4 * MIB });
  const disk = Buffer.alloc(4 * MIB, 'content of the disk ');
  lab.engine.put(web);
  lab.engine.disks.set(`${formatRef(web.ref)} vda`, disk);
  const backends = new Backends([lab, other]);
  const directory = new Fleet({ clock, present: () => null });
  for (const backend of backends.all()) directory.attach(backend);
  await directory.whenSynced();

  const records = new Owners();
  const reservations = new Ledger({ clock });
  const audit = new Audit(new MemoryAuditLog(), clock);
  const shutdowns = new ShutdownEstimates(new MemoryShutdownTimes());
  const shared = { directory, backends, reservations, throughput: new Throughput(), shutdowns, records, audit, clock };
  const planMove = new PlanMove(shared);
  const board = new TaskBoard(new MemoryTaskStore(), clock);
  const start = new StartMove({ ...shared, planMove, task: board.define(new MoveTask(shared)) });

  const request = { ref: formatRef(web.ref), toBackend: 'memory', deleteSource: true };
  const refused = await planMove.run({ ...request, toContext: 'nowhere' });
  const { task } = await start.run({ ...request, toContext: 'other' }, undefined, ann);
  if (task === undefined) throw new Error('The move was refused.');
  await board.whenEnded(task);
  const ended = board.get(task);
  const copied = other.engine.disks.get('vm/other/default/web vda');
  await board.close();
  await directory.close();
  console.log(
    JSON.stringify({
      refusals: refused.plan.refusals.map(({ code }) => code),
      status: ended.status,
      error: ended.error,
      isSameDisk: copied?.equals(disk),
      isGone: !lab.engine.has(web.ref),
      owners: [...records.byRef],
    }),
  );
}

void main();

import { expectMembersAllowed } from '@headgate/access';
import {
  Audit,
  BackendDirectory,
  Change,
  DomainError,
  SystemClock,
  type Backend,
  type FolderDirectory,
  type Plan,
  type PowerObserver,
} from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import {
  ApplyContainerPower,
  ApplyPower,
  ChangeHardwareTogether,
  CreateSnapshot,
  DeleteContainer,
  DeleteSnapshot,
  DeleteVm,
  InstanceActions,
  ListSnapshots,
  MemberReadiness,
  MigrateVm,
  RestoreSnapshot,
  RunBulk,
  SnapshotTasks,
  TagVm,
} from '@headgate/instances';
import { Ledger } from '@headgate/reservations';
import { TaskBoard } from '@headgate/tasks';
import { presentEntry } from '../../fleet/present.js';
import { InstanceAccess } from '../../identity/instance-access.js';
import { AgentActions } from '../agent-actions.js';
import { NoJournal, PassingTasks } from './passing-tasks.js';

/** The only backend of a twin. */
class OneBackend extends BackendDirectory {
  constructor(private readonly backend: Backend) {
    super();
  }

  override all(): readonly Backend[] {
    return [this.backend];
  }

  override get(context: string): Backend {
    if (context === this.backend.context) return this.backend;
    throw new DomainError('CONTEXT_NOT_FOUND', `The twin of ${this.backend.context} has no other context.`);
  }
}

/** Folders are records of this service, which a simulation of a cluster does not have. */
class OutsideTwin extends Change<readonly unknown[], never, never> {
  protected override prepare(): never {
    throw new DomainError('NOT_SUPPORTED', 'Folders are records of this service: a twin shows nothing of them.');
  }

  protected override planPrepared(): Promise<Plan> {
    return this.prepare();
  }

  protected override runPrepared(): never {
    return this.prepare();
  }
}

const UNOBSERVED: PowerObserver = { observe: (_vm, _action, _options, run) => run() };
/** A deletion in a twin ends no membership of a folder. */
const FOLDERLESS: Pick<FolderDirectory, 'endWith'> = { endWith: (_instance, remove) => remove() };
const NO_SCHEDULES = {
  run: async (): Promise<never> => {
    throw new DomainError('NOT_SUPPORTED', 'A twin carries out no schedules.');
  },
};

/** The use cases of this service over the backend of a twin, with a fleet, tasks and reservations of their own. */
export class TwinService {
  readonly fleet: Fleet;
  readonly tasks = new PassingTasks();
  readonly actions: AgentActions;
  private readonly board: TaskBoard;

  /** @param folders of the service, which decide about the rights of callers in the twin as well */
  constructor(backend: Backend, folders: FolderDirectory) {
    const clock = new SystemClock();
    const reservations = new Ledger({ clock });
    const fleet = (this.fleet = new Fleet({ clock, present: presentEntry, folderOf: (one) => folders.folderOf(one) }));
    this.board = new TaskBoard(this.tasks, clock, undefined, undefined, reservations);
    const audit = new Audit(new NoJournal(), clock);
    const backends = new OneBackend(backend);
    const change = { directory: fleet, backends, audit, reservations };
    const snapshotTasks = new SnapshotTasks({ directory: fleet, backends, tasks: this.board });
    const createSnapshot = new CreateSnapshot({ ...change, tasks: snapshotTasks, clock });
    const actions = new InstanceActions(
      {
        applyPower: new ApplyPower({ ...change, observer: UNOBSERVED }),
        applyContainerPower: new ApplyContainerPower(change),
        migrateVm: new MigrateVm({ ...change, tasks: this.board }),
        createSnapshot,
        scheduledSnapshots: NO_SCHEDULES,
        tagVm: new TagVm(change),
        deleteVm: new DeleteVm({ ...change, tasks: this.board, folders: FOLDERLESS }),
        deleteContainer: new DeleteContainer({ ...change, folders: FOLDERLESS }),
        putIntoFolder: new OutsideTwin(),
        takeOutOfFolder: new OutsideTwin(),
      },
      ({ grant }, request, ref) => expectMembersAllowed(grant, request, [ref]),
      new MemberReadiness(fleet),
    );
    this.actions = new AgentActions(
      new InstanceAccess(fleet, fleet, folders),
      fleet,
      clock,
      new RunBulk(this.board, actions, audit, clock, fleet),
      new ListSnapshots({ directory: fleet, backends }),
      createSnapshot,
      new RestoreSnapshot({ ...change, tasks: snapshotTasks }),
      new DeleteSnapshot({ ...change, tasks: snapshotTasks }),
      new ChangeHardwareTogether(change),
      actions,
    );
    fleet.attach(backend);
  }

  async close(): Promise<void> {
    await this.board.close();
    await this.fleet.close();
  }
}

import { randomUUID } from 'node:crypto';
import {
  buildPlan,
  Change,
  DomainError,
  type Audit,
  type Caller,
  type Clock,
  type Plan,
  type SavedView,
  type SavedViewStore,
} from '@headgate/domain-contracts';

export const MAX_VIEWS_PER_OWNER = 50;
/** Of all owners together. */
export const MAX_VIEWS = 5000;

/** What a user chooses of a view. */
export interface ViewRequest {
  readonly name: string;
  readonly address: string;
  readonly columns: readonly string[] | null;
}

/** A change of a view; absent fields stay. */
export interface ViewUpdate extends Partial<ViewRequest> {
  /** The place among the views of the owner, from 0. One behind the last is the last. */
  readonly position?: number;
}

export interface ViewDeps {
  readonly store: SavedViewStore;
  readonly clock: Clock;
  readonly audit: Audit;
}

const subjectOf = ({ id }: SavedView): string => `view/${id}`;

/** Saves a new view of a user, behind the others. */
export class SaveView extends Change<[owner: string, request: ViewRequest], SavedView, SavedView> {
  constructor(private readonly deps: ViewDeps) {
    super();
  }

  /** @throws DomainError ALREADY_EXISTS, CONFLICT when there are too many views */
  protected override prepare(owner: string, request: ViewRequest): SavedView {
    const { store, clock } = this.deps;
    const views = store.of(owner);
    expectFree(views, request.name);
    if (views.length >= MAX_VIEWS_PER_OWNER)
      throw new DomainError('CONFLICT', `You have ${MAX_VIEWS_PER_OWNER} saved views already; delete one of them.`);
    if (store.count() >= MAX_VIEWS)
      throw new DomainError('CONFLICT', `The service has ${MAX_VIEWS} saved views already; delete some of them.`);
    const rank = (views.at(-1)?.rank ?? -1) + 1;
    return { owner, id: randomUUID(), ...request, rank, savedAt: clock.iso() };
  }

  protected override async planPrepared({ name, address }: SavedView): Promise<Plan> {
    return buildPlan([{ name: 'save view', detail: `${name}: ${address}` }]);
  }

  protected override async runPrepared(view: SavedView, caller: Caller): Promise<SavedView> {
    await this.deps.audit.of(caller, 'save view', subjectOf(view), () => this.deps.store.put(view));
    return view;
  }
}

interface PreparedUpdate {
  readonly view: SavedView;
  /** Those that get another rank, and the view itself. */
  readonly changed: readonly SavedView[];
}

/** Renames, replaces or moves a view of a user. */
export class UpdateView extends Change<[owner: string, id: string, update: ViewUpdate], SavedView, PreparedUpdate> {
  constructor(private readonly deps: ViewDeps) {
    super();
  }

  /** @throws DomainError VIEW_NOT_FOUND, also for a view of another user; ALREADY_EXISTS */
  protected override prepare(owner: string, id: string, { position, ...update }: ViewUpdate): PreparedUpdate {
    const { store, clock } = this.deps;
    const views = store.of(owner);
    const found = expectView(views, id);
    const others = views.filter((one) => one.id !== id);
    if (update.name !== undefined) expectFree(others, update.name);
    const { name = found.name, address = found.address, columns = found.columns } = update;
    const view: SavedView = { ...found, name, address, columns, savedAt: clock.iso() };
    if (position === undefined) return { view, changed: [view] };
    const ordered = [...others.slice(0, position), view, ...others.slice(position)];
    const ranked = ordered.map((one, rank) => ({ ...one, rank }));
    const changed = ranked.filter((one) => one.id === id || views.find((old) => old.id === one.id)?.rank !== one.rank);
    return { view: ranked.find((one) => one.id === id)!, changed };
  }

  protected override async planPrepared({ view: { name, address } }: PreparedUpdate): Promise<Plan> {
    return buildPlan([{ name: 'change view', detail: `${name}: ${address}` }]);
  }

  protected override async runPrepared({ view, changed }: PreparedUpdate, caller: Caller): Promise<SavedView> {
    await this.deps.audit.of(caller, 'change view', subjectOf(view), async () => {
      for (const one of changed) await this.deps.store.put(one);
    });
    return view;
  }
}

/** Deletes a view of a user. */
export class DeleteView extends Change<[owner: string, id: string], void, SavedView> {
  constructor(private readonly deps: ViewDeps) {
    super();
  }

  /** @throws DomainError VIEW_NOT_FOUND, also for a view of another user */
  protected override prepare(owner: string, id: string): SavedView {
    return expectView(this.deps.store.of(owner), id);
  }

  protected override async planPrepared({ name }: SavedView): Promise<Plan> {
    return buildPlan([{ name: 'delete view', detail: name }]);
  }

  protected override async runPrepared(view: SavedView, caller: Caller): Promise<void> {
    await this.deps.audit.of(caller, 'delete view', subjectOf(view), async () => {
      await this.deps.store.delete(view.owner, view.id);
    });
  }
}

function expectView(views: readonly SavedView[], id: string): SavedView {
  const found = views.find((one) => one.id === id);
  if (!found) throw new DomainError('VIEW_NOT_FOUND', `You have no saved view ${id}.`);
  return found;
}

function expectFree(views: readonly SavedView[], name: string): void {
  if (views.some((one) => one.name === name))
    throw new DomainError('ALREADY_EXISTS', `name: you have a view "${name}" already; choose another name.`);
}

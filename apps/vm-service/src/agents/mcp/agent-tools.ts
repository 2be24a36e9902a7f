import { Injectable, type Type } from '@nestjs/common';
import { sharedData, expectAllowed } from '@headgate/access';
import {
  CommitDto,
  CommitPath,
  InstanceRefDto,
  ListInstancesDto,
  NoArguments,
  RehearseDto,
  TaskRefDto,
} from '@headgate/api-contracts';
import { AuditLog, DomainError, formatRef, type Caller } from '@headgate/domain-contracts';
import { FleetReader, queryEntries } from '@headgate/fleet';
import { Agents, Budgets, Rehearsals, type Rehearsal } from '@headgate/rehearsals';
import { TaskReader } from '@headgate/tasks';
import { ReadCapabilities } from '../../cluster/read-capabilities.js';
import { compileListQuery } from '../../fleet/compile-list-query.js';
import { presentEntry } from '../../fleet/present.js';
import { readable } from '../../fleet/readable.js';
import { InstanceAccess } from '../../identity/instance-access.js';
import { toDomainError } from '../../platform/to-domain-error.js';
import { WireValidationPipe } from '../../platform/wire-validation.pipe.js';
import { presentTask } from '../../tasks/present-task.js';
import { expectReadable } from '../../tasks/readable-task.js';
import { AgentActions } from '../agent-actions.js';
import { presentRehearsed, refusedMembers } from '../present-rehearsed.js';
import { presentTwin } from '../twin/present-twin.js';
import { Twins } from '../twin/twins.js';
import { toolResult, type ToolResult } from './untrusted.js';

const DEFAULT_LIMIT = 50;
const MAX_JOURNAL_ENTRIES = 50;

type Tool = (args: unknown, caller: Caller) => Promise<unknown>;

/**
 * Carries out the calls of tools. Reads are those of the caller's grant; `rehearse` and `commit` have the rights of the
 * token's actions.
 */
@Injectable()
export class AgentTools {
  private readonly validation = new WireValidationPipe();
  private readonly tools: ReadonlyMap<string, Tool>;

  constructor(
    private readonly fleet: FleetReader,
    private readonly access: InstanceAccess,
    private readonly tasks: TaskReader,
    private readonly audit: AuditLog,
    private readonly capabilities: ReadCapabilities,
    private readonly agents: Agents,
    private readonly budgets: Budgets,
    private readonly actions: AgentActions,
    private readonly rehearsals: Rehearsals,
    private readonly twins: Twins,
  ) {
    this.tools = new Map<string, Tool>([
      ['list_instances', this.tool(ListInstancesDto, (args, caller) => this.list(args, caller))],
      ['get_instance', this.tool(InstanceRefDto, ({ ref }, caller) => this.instance(ref, caller))],
      ['get_task', this.tool(TaskRefDto, ({ id }, caller) => presentTask(expectReadable(caller, this.tasks.get(id))))],
      ['read_journal', this.tool(InstanceRefDto, ({ ref }, caller) => this.journal(ref, caller))],
      ['get_health', this.tool(NoArguments, (_args, caller) => this.health(caller))],
      ['get_capabilities', this.tool(NoArguments, (_args, caller) => this.readCapabilities(caller))],
      ['get_leash', this.tool(NoArguments, (_args, caller) => this.leash(caller))],
      ['rehearse', this.tool(RehearseDto, (args, caller) => this.rehearse(args, caller))],
      ['commit', this.tool(CommitDto, (args, caller) => this.commit(args, caller))],
      ['get_commit', this.tool(CommitPath, ({ id }, caller) => stateOf(this.rehearsals.read(id, tokenOf(caller))))],
    ]);
  }

  /** The result of a tool, or its error as a result. */
  async call(name: string, args: unknown, caller: Caller): Promise<ToolResult> {
    try {
      const tool = this.tools.get(name);
      if (!tool) throw new DomainError('INVALID_INPUT', `There is no tool ${name.slice(0, 40)}.`);
      return toolResult(await tool(args ?? {}, caller));
    } catch (error) {
      const { code, message, details } = toDomainError(error);
      return toolResult({ error: message, code, ...(details !== undefined && { details }) }, true);
    }
  }

  private tool<T extends object>(type: Type<T>, run: (args: T, caller: Caller) => unknown): Tool {
    return async (args, caller) =>
      run((await this.validation.transform(args, { type: 'body', metatype: type })) as T, caller);
  }

  private async list({ kind = 'vm', q, limit = DEFAULT_LIMIT, ...where }: ListInstancesDto, { grant }: Caller) {
    await this.fleet.whenSynced();
    const entries = readable(this.fleet.all(kind), grant);
    const page = queryEntries(entries, { ...where, limit, matches: compileListQuery(q) });
    return { instances: page.entries.map(presentEntry), cursor: page.cursor };
  }

  private async instance(text: string, { grant }: Caller): Promise<unknown> {
    await this.fleet.whenSynced();
    const { ref } = this.access.findRef(text, grant);
    const entry = [...this.fleet.all(ref.kind)].find(({ instance }) => formatRef(instance.ref) === formatRef(ref));
    return entry && presentEntry(entry);
  }

  private journal(text: string, { grant }: Caller): unknown {
    const { ref } = this.access.findRef(text, grant);
    return this.audit.recent(MAX_JOURNAL_ENTRIES, formatRef(ref)).map(({ address: _address, ...entry }) => entry);
  }

  private health({ grant }: Caller): unknown {
    expectAllowed(grant, sharedData);
    return { contexts: this.fleet.states().map(({ context, state, reason }) => ({ context, state, reason })) };
  }

  private readCapabilities({ grant }: Caller): unknown {
    expectAllowed(grant, sharedData);
    return this.capabilities.read();
  }

  private leash(caller: Caller): unknown {
    const { token, leash } = this.agents.get(tokenOf(caller));
    return { ...leash, changesLeft: this.budgets.of(token, leash).left };
  }

  private async rehearse(args: RehearseDto, caller: Caller): Promise<unknown> {
    await this.fleet.whenSynced();
    const token = tokenOf(caller);
    const agent = this.agents.get(token);
    const rehearsal = await this.rehearsals.rehearse(await this.actions.of(args, agent.caller), token);
    const { id, hash, action, targets, changes, plan, expiresAt, isDestructive } = rehearsal;
    const twin = args.twin && hash !== undefined ? await this.twin(args, rehearsal, agent.caller) : undefined;
    return {
      id: hash === undefined ? null : id,
      hash: hash ?? null,
      expiresAt: new Date(expiresAt).toISOString(),
      action,
      refs: targets.map(({ ref }) => ref),
      changes,
      destructive: isDestructive,
      needsApproval: agent.leash.approval === 'all' || (agent.leash.approval === 'destructive' && isDestructive),
      plan: presentRehearsed(plan),
      refused: refusedMembers(plan),
      twin,
      changesLeft: this.budgets.of(token, agent.leash).left,
    };
  }

  /** What a simulation shows, or why there is none: the plan can be committed in any case. */
  private async twin(dto: RehearseDto, { id, token, targets, plan }: Rehearsal, caller: Caller): Promise<unknown> {
    try {
      const outcome = await this.twins.run({ dto, planned: { targets, plan, isCommittable: true }, caller });
      this.rehearsals.attach(id, token, outcome);
      return presentTwin(outcome, caller.grant);
    } catch (error) {
      const { code, message } = toDomainError(error);
      return { error: message, code };
    }
  }

  private async commit(args: CommitDto, caller: Caller): Promise<unknown> {
    const { origin } = caller;
    return stateOf(await this.rehearsals.commit(args, tokenOf(caller), { ...(origin && { origin }) }));
  }
}

/** @throws DomainError NOT_PERMITTED */
function tokenOf({ token, grant }: Caller): string {
  if (token !== undefined && grant.kind === 'agent') return token;
  throw new DomainError('NOT_PERMITTED', `${grant.label} has no leash.`);
}

const stateOf = ({ id, status, action, task, error, errorDetails, decidedBy, expiresAt }: Rehearsal) => ({
  id,
  status,
  action,
  task,
  error,
  details: errorDetails,
  decidedBy,
  ...(status === 'waiting' && { waitsUntil: new Date(expiresAt).toISOString() }),
});

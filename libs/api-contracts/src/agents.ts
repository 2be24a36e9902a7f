import { BULK_ACTIONS, INSTANCE_KINDS, type BulkAction, type InstanceKind } from '@headgate/domain-contracts';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsString,
  IsUUID,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { PlanView } from './answers.js';
import { AreRefs, BulkQuery } from './bulk.js';
import { IsContextName, IsFolderPath, IsInstanceName, IsTag, Nested, Optional } from './fields.js';
import { HardwareChangeDto } from './hardware-changes.js';
import { MAX_QUERY_CHARS } from './queries.js';

const MAX_REASON_CHARS = 300;
const MAX_REF_CHARS = 400;
const MAX_AGENT_REFS = 1000;
const MAX_AGENT_CHANGES = 20;

/** The actions of `POST /api/ext/bulk`, and those of one instance that have no bulk action. */
export const AGENT_ACTIONS = [...BULK_ACTIONS, 'restore-snapshot', 'delete-snapshot', 'hardware'] as const;
export type AgentAction = BulkAction | 'restore-snapshot' | 'delete-snapshot' | 'hardware';

/** A change of instances, as agents rehearse it. Exactly one of refs and query must be set. */
export class RehearsedChangeDto {
  /** The action on each instance. */
  @IsIn(AGENT_ACTIONS) action!: AgentAction;
  /** The refs of the instances. */
  @Optional() @AreRefs(MAX_AGENT_REFS) refs?: string[];
  /** Chooses the instances that match. */
  @Optional() @Nested(() => BulkQuery) query?: BulkQuery;
  /** Only with stop. */
  @Optional() @IsBoolean() force?: boolean;
  /** Only with tag and untag. */
  @Optional() @IsTag() tag?: string;
  /** Only with folder. */
  @Optional() @IsFolderPath() folder?: string;
  /** The name of a snapshot. */
  @Optional() @IsInstanceName() snapshot?: string;
  /** Only with hardware. */
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_AGENT_CHANGES)
  @Nested(() => HardwareChangeDto, { each: true })
  changes?: HardwareChangeDto[];
  /** Only with hardware. */
  @Optional() @IsBoolean() restart?: boolean;
}

/** The arguments of the tool `rehearse`. */
export class RehearseDto extends RehearsedChangeDto {
  /** Whether the change is also carried out in a simulation of its context. */
  @Optional() @IsBoolean() twin?: boolean;
}

/** POST /api/ext/twins: a change to carry out in a simulation of its context. */
export class TwinDto extends RehearsedChangeDto {}

/** An instance at one moment in a twin. */
export class TwinStateView {
  /** Its status, or the phase of a container. */
  @IsString() status!: string;
  /** The node. */
  @Optional() @IsString() node?: string;
  /** The number of virtual CPUs. */
  @IsInt() cpu!: number;
  /** Memory, such as `4Gi`. */
  @IsString() mem!: string;
  /** The boot disk of a VM, such as `20Gi`. */
  @Optional() @IsString() disk?: string;
  /** Its tags. */
  @IsArray() @IsString({ each: true }) tags!: string[];
  /** Whether a change waits for a restart. */
  @IsBoolean() restartRequired!: boolean;
  /** One sentence, when the state is a problem. */
  @Optional() @IsString() reason?: string;
}

/** Something that happened to an instance in a twin. */
export class TwinStepView {
  /** Simulated seconds since the change began. */
  @IsNumber() seconds!: number;
  /** A word such as `Migrating` or `FailedScheduling`. */
  @IsString() name!: string;
  /** One sentence, or empty. */
  @IsString() detail!: string;
  /** Whether the cluster warns of it. */
  @IsBoolean() warning!: boolean;
}

/** What a twin shows of one instance. */
export class TwinInstanceView {
  /** The ref of the instance. */
  @IsString() ref!: string;
  /** Before the change. Absent if it did not exist. */
  @Optional() @Nested(() => TwinStateView) before?: TwinStateView;
  /** After the change. Absent if it does not exist any more. */
  @Optional() @Nested(() => TwinStateView) after?: TwinStateView;
  /** What happened to it, in order. */
  @IsArray() @Nested(() => TwinStepView, { each: true }) steps!: TwinStepView[];
  /** Why the change failed for it. */
  @Optional() @IsString() error?: string;
  /** How the outcome differs from what the plan promises. */
  @Optional() @IsString() difference?: string;
}

/** The outcome of a change that was carried out in a simulation of its context: nothing of it is real. */
export class TwinView {
  /** Always true: everything here was simulated. */
  @IsBoolean() simulated!: boolean;
  /** The context. */
  @IsString() context!: string;
  /** When the objects of the context were read, in ISO 8601. */
  @IsString() readAt!: string;
  /** How many objects the simulation has. */
  @IsInt() objects!: number;
  /** Simulated seconds from the change to the end. */
  @IsNumber() simulatedSeconds!: number;
  /** Whether everything had come to rest; otherwise a limit of time was reached. */
  @IsBoolean() settled!: boolean;
  /** The instances of the change. */
  @IsArray() @Nested(() => TwinInstanceView, { each: true }) instances!: TwinInstanceView[];
  /** Other instances that have changed as well, of those that the caller may read. At most 50. */
  @IsArray() @Nested(() => TwinInstanceView, { each: true }) others!: TwinInstanceView[];
  /** How the plan in the simulation differs from the plan. */
  @IsArray() @IsString({ each: true }) differences!: string[];
  /** The limits of the simulation, and the kinds of objects that were not read. */
  @IsArray() @IsString({ each: true }) notes!: string[];
}

/** A plan, and what a simulation has made of it. */
export class TwinRunView {
  /** The plan of the change, as the context would carry it out. */
  @Nested(() => PlanView) plan!: PlanView;
  /** Absent if the plan is refused as a whole. */
  @Optional() @Nested(() => TwinView) twin?: TwinView;
}

/** The arguments of the tool `commit`. */
export class CommitDto {
  /** The ID of the rehearsal. */
  @IsUUID() id!: string;
  /** Its hash. */
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be the hash of the rehearsal.' }) hash!: string;
  /** The words of the agent, for the journal. */
  @IsString() @MaxLength(MAX_REASON_CHARS) @Matches(/\S/, { message: '$property must have a word.' }) reason!: string;
}

/** The arguments of the tool `get_commit`. */
export class CommitPath {
  /** The ID of the rehearsal. */
  @IsUUID() id!: string;
}

/** The arguments of the tool `list_instances`. */
export class ListInstancesDto {
  /** `vm` by default. */
  @Optional() @IsIn(INSTANCE_KINDS) kind?: InstanceKind;
  /** A query as in the lists. */
  @Optional() @IsString() @MaxLength(MAX_QUERY_CHARS) q?: string;
  /** Only instances of this context. */
  @Optional() @IsContextName() context?: string;
  /** Only this folder and those in it. */
  @Optional() @IsFolderPath() folder?: string;
  /** At most this many, 50 by default. */
  @Optional() @IsInt() @Min(1) @Max(200) limit?: number;
  /** The cursor of the previous page. */
  @Optional() @IsString() @MaxLength(1000) cursor?: string;
}

/** The arguments of `get_instance` and `read_journal`. */
export class InstanceRefDto {
  /** The ref of the instance. */
  @IsString() @MaxLength(MAX_REF_CHARS) ref!: string;
}

/** The arguments of `get_task`. */
export class TaskRefDto {
  /** The ID of the task. */
  @IsString() @MaxLength(200) id!: string;
}

/** The arguments of tools that take none. */
export class NoArguments {}

/** POST /api/ext/agents/stop and POST /api/ext/agents/resume */
export class StopAgentsDto {
  /** The ID of the token of one agent. Default: all agents. */
  @Optional()
  @Matches(/^[0-9A-Za-z]{10}$/, { message: '$property must be the ID of an API token.' })
  token?: string;
}

/** The agents that were stopped or resumed. */
export class StoppedAgentsView {
  /** The IDs of their tokens. */
  @IsArray() @IsString({ each: true }) tokens!: string[];
  /** How many commits waited for an approval, and were canceled. */
  @IsInt() canceled!: number;
}

/** A commit of an agent that waits until a user approves it. */
export class ApprovalView {
  /** The ID of the rehearsal. */
  @IsString() id!: string;
  /** The ID of the token of the agent. */
  @IsString() token!: string;
  /** The name of the token of the agent. */
  @IsString() agent!: string;
  /** The action, such as `stop by force`. */
  @IsString() action!: string;
  /** Whether something is lost that the service can't bring back. */
  @IsBoolean() destructive!: boolean;
  /** The refs of the instances. */
  @IsArray() @IsString({ each: true }) refs!: string[];
  /** How many of the instances are changed; the others are refused. */
  @IsInt() changes!: number;
  /** The plan that was rehearsed. If it has changed, an approval changes nothing. */
  @Nested(() => PlanView) plan!: PlanView;
  /** What a simulation of the context has shown, if the agent has asked for one. It is no part of the plan. */
  @Optional() @Nested(() => TwinView) twin?: TwinView;
  /** The words of the agent. They may be anything. */
  @IsString() reason!: string;
  /** When the agent has committed it, in ISO 8601. */
  @IsString() committedAt!: string;
  /** Until when it can be approved, in ISO 8601. */
  @IsString() expiresAt!: string;
}

/** `{id}` of an approval. */
export class ApprovalPath {
  /** The ID of the rehearsal. */
  @IsUUID(undefined, { message: '$property must be the ID of a commit that waits.' }) id!: string;
}

/** A commit that was approved. */
export class ApprovedView {
  /** `done`, or with a task `started`. */
  @IsString() status!: string;
  /** The task that continues the change. */
  @Optional() @IsString() task?: string;
}

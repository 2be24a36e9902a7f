import { LEAVE_WAYS, type LeaveWay } from '@headgate/domain-contracts';
import { IsArray, IsBoolean, IsIn, IsInt, IsString, Max, Min } from 'class-validator';
import { PlanView } from './answers.js';
import { BulkMemberPlanView } from './bulk.js';
import { IsContextName, Nested, Optional, Required } from './fields.js';
import { ChangeQuery } from './queries.js';

const MAX_LEAVING_AT_ONCE = 8;

/** Chooses the context of a node that is changed. */
export class NodeChangeQuery extends ChangeQuery {
  /** The context that has the node: nodes of several contexts may have the same name. */
  @Required() @IsContextName() declare context: string;
}

/** POST /api/ext/nodes/{name}/drain */
export class DrainDto {
  /** The number of instances that leave the node at the same time; 2 by default. */
  @Optional() @IsInt() @Min(1) @Max(MAX_LEAVING_AT_ONCE) atOnce?: number;
  /** No further instance leaves after the first failure; the remaining ones stay. */
  @Optional() @IsBoolean() stopOnError?: boolean;
  /** Begins although some instances can't leave the node. They stay and run on. */
  @Optional() @IsBoolean() skipRefused?: boolean;
}

/** The response to a change of the scheduling of a node. */
export class NodeStatusView {
  /** Whether the node was changed: false if it was as wanted before. */
  @IsBoolean() changed!: boolean;
}

/** What a drain does to one instance. A container does not run during the time of `interruption`. */
export class DrainMemberPlanView extends BulkMemberPlanView {
  /** `migrate`: while its guest runs. `restart`: it is stopped, and started on another node. */
  @IsIn(LEAVE_WAYS) way!: LeaveWay;
  /** The nodes with room for it when its turn comes. The scheduler of the backend chooses. */
  @IsArray() @IsString({ each: true }) nodes!: string[];
  /** Conditions that were not checked for it, each a phrase such as `free hugepages`. */
  @IsArray() @IsString({ each: true }) unchecked!: string[];
}

/** The response to a dry run of POST /api/ext/nodes/{name}/drain. */
export class DrainPlanView extends PlanView {
  /** Whether this request starts the drain. */
  @IsBoolean() ok!: boolean;
  /** The instances of the node in the order in which they leave: the largest first. */
  @IsArray() @Nested(() => DrainMemberPlanView, { each: true }) members!: DrainMemberPlanView[];
  /** The number of pods of others on the node, which stay. Those of DaemonSets are not counted. */
  @IsInt() @Min(0) others!: number;
  /** Conditions that were not checked for any of them, each a sentence. */
  @IsArray() @IsString({ each: true }) unchecked!: string[];
}

/** A drain that has begun. The node is cordoned, and stays so. */
export class DrainAcceptedView {
  /** The ID of the bulk task of its instances; absent when nothing had to leave the node. */
  @Optional() @IsString() task?: string;
  /** How the drain was planned. */
  @Nested(() => DrainPlanView) plan!: DrainPlanView;
}

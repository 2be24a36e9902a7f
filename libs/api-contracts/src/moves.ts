import {
  ERROR_CODES,
  MOVE_REFUSAL_CODES,
  isVolumeName,
  LOSS_CATEGORIES,
  LOSS_SEVERITIES,
  type ErrorCode,
  type LossCategory,
  type LossSeverity,
} from '@headgate/domain-contracts';
import {
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateBy,
} from 'class-validator';
import { PlanStepView, SecondsView } from './answers.js';
import { AreRefs, BulkQuery } from './bulk.js';
import { IsBackendKind, IsContextName, IsInstanceName, Nested, Nullable, Optional } from './fields.js';

export const MOVE_MODES = ['cold', 'warm', 'live'] as const;
export type MoveMode = (typeof MOVE_MODES)[number];

const ACCEPTABLE_LOSSES = ['tpm'] as const;
const MAX_MAPPED_NAMES = 64;
const MAX_QUEUE_MEMBERS = 1000;
const MAX_MOVES_PER_HOST = 8;

const isNameMap = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value as Record<string, unknown>);
  return (
    entries.length <= MAX_MAPPED_NAMES &&
    entries.every(([from, to]) => from.length <= 511 && typeof to === 'string' && isVolumeName(to))
  );
};

/** Names at the source with the names at the destination that replace them. */
const IsNameMap = (): PropertyDecorator =>
  ValidateBy({
    name: 'isNameMap',
    constraints: [{ type: 'object', additionalProperties: { type: 'string' }, examples: [{ lan: 'default/lan' }] }],
    validator: {
      validate: isNameMap,
      defaultMessage: (args) =>
        `${args?.property} must be an object with names of the source and, for each, the name at the destination.`,
    },
  });

const IsScratch = (): PropertyDecorator =>
  ValidateBy({
    name: 'isScratch',
    constraints: [{ type: ['boolean', 'string'], examples: [true] }],
    validator: {
      validate: (value: unknown) => typeof value === 'boolean' || (typeof value === 'string' && value.length <= 511),
      defaultMessage: (args) => `${args?.property} must be true, false, or the name of a place.`,
    },
  });

/** What takes the place of the networks and storage classes of the source. */
export class MoveMappingDto {
  /** Networks of the source → networks of the destination. */
  @Optional() @IsNameMap() networks?: Record<string, string>;
  /** Storage classes of the source → storage classes or pools of the destination. */
  @Optional() @IsNameMap() storageClasses?: Record<string, string>;
}

/** POST /api/move and /api/move/preflight */
export class MoveDto {
  /**
   * `vm/<context>/<namespace>/<name>` as in the lists, or `ct/…` for a container. Exactly one of ref, refs and query
   * must be set.
   */
  @Optional() @IsString() @MaxLength(1024) ref?: string;
  /** Several instances, which are moved as a queue: one bulk task with a result for each of them. */
  @Optional() @AreRefs(MAX_QUEUE_MEMBERS) refs?: string[];
  /**
   * The same for the VMs of a list, such as those of a folder. VMs that are at the destination already are left out.
   */
  @Optional() @Nested(() => BulkQuery) query?: BulkQuery;
  /** The kind of the destination, such as `libvirt` or `kubevirt`. */
  @IsBackendKind() toBackend!: string;
  /** May be absent if only one other context is of that kind. */
  @Optional() @IsContextName() toContext?: string;
  /** The namespace at the destination. Default: that of the destination. */
  @Optional() @IsInstanceName() toNamespace?: string;
  /** The name of the source by default. */
  @Optional() @IsInstanceName() name?: string;
  /** Has no effect: the disks are copied directly, so no space is needed in between. */
  @Optional() @IsScratch() scratch?: boolean | string;
  /** Whether to delete the source once the copy was verified. */
  @Optional() @IsBoolean() deleteSource?: boolean;
  /**
   * `cold`, the default and the only one for containers: the guest is stopped during the copy. `warm`: it runs during
   * most of the copy. `live`: it is migrated, which needs `deleteSource`.
   */
  @Optional() @IsIn(MOVE_MODES) mode?: MoveMode;
  /** The networks and storage classes that take the place of those of the source. */
  @Optional() @IsObject() @Nested(() => MoveMappingDto) mapping?: MoveMappingDto;
  /** Critical losses that are accepted; without that, they refuse the move. `tpm`: the keys in the TPM. */
  @Optional() @IsArray() @IsIn(ACCEPTABLE_LOSSES, { each: true }) acceptLoss?: (typeof ACCEPTABLE_LOSSES)[number][];
  /**
   * Of a queue: the number of its members that read from one context, or write to it, at the same time; 2 by default.
   */
  @Optional() @IsInt() @Min(1) @Max(MAX_MOVES_PER_HOST) perHost?: number;
  /** Of a queue: begins although some VMs are refused. They fail with the reason, and can be retried. */
  @Optional() @IsBoolean() skipRefused?: boolean;
}

/** GET /api/move/destinations */
export class DestinationsQuery {
  /** The kind of the instances that are to be moved: `vm`, the default, or `ct` for containers. */
  @Optional() @IsIn(['vm', 'ct']) kind?: 'vm' | 'ct';
}

/** A context as the destination of a move. */
export class DestinationView {
  /** The kind. */
  @IsString() backend!: string;
  /** The name of the context. */
  @IsString() context!: string;
  /** Whether it can receive instances of that kind. */
  @IsBoolean() can!: boolean;
  /** Why not. */
  @Optional() @IsString() reason?: string;
}

/** GET /api/move/destinations */
export class DestinationsView {
  /** All contexts. */
  @IsArray() @Nested(() => DestinationView, { each: true }) destinations!: DestinationView[];
}

const CONCERN_CODES = [...ERROR_CODES, ...MOVE_REFUSAL_CODES, 'WARNING'] as const;

/** A reason why a move is refused. */
export class MoveConcernView {
  /** Stable. `WARNING` for a warning, which no code distinguishes. */
  @IsIn(CONCERN_CODES) code!: (typeof CONCERN_CODES)[number];
  /** One sentence about the problem. */
  @IsString() reason!: string;
  /** One sentence about the remedy. */
  @IsString() remedy!: string;
  /** The part of the move that it is about. */
  @IsIn(['request', 'source', 'destination', 'storage']) category!: string;
  /** A critical concern always blocks the move. */
  @IsIn(['critical', 'warning']) severity!: string;
}

/** A property of the VM that the copy will not have. */
export class LossView {
  /** One sentence, or a noun phrase, that names the property. */
  @IsString() what!: string;
  /** The part of the VM that it belongs to. */
  @IsIn(LOSS_CATEGORIES) category!: LossCategory;
  /** `critical`: data that exists nowhere else. `warning`: the guest may notice. `info`: the guest notices nothing. */
  @IsIn(LOSS_SEVERITIES) severity!: LossSeverity;
}

/** The plan of a move. */
export class MovePlanView {
  /** Whether there is no refusal. */
  @IsBoolean() ok!: boolean;
  /** A ref. */
  @IsString() source!: string;
  /** A ref; empty while the request does not determine one. */
  @IsString() destination!: string;
  /** How the guest is moved. */
  @IsIn(MOVE_MODES) mode!: string;
  /** The steps in their order. */
  @IsArray() @Nested(() => PlanStepView, { each: true }) steps!: PlanStepView[];
  /** Consequences that the caller may not expect, one sentence each. */
  @IsArray() @IsString({ each: true }) warnings!: string[];
  /** Properties of the VM that the copy will not have. */
  @IsArray() @IsString({ each: true }) dropped!: string[];
  /** The same with their categories and severities. */
  @IsArray() @Nested(() => LossView, { each: true }) losses!: LossView[];
  /** All reasons why the move is refused, each with its remedy. */
  @IsArray() @Nested(() => MoveConcernView, { each: true }) refusals!: MoveConcernView[];
  /** Roughly how many bytes are transferred. */
  @IsInt() @Min(0) estimatedBytes!: number;
  /** How many seconds the guest will be stopped, or paused by a live move; null when it is not running. */
  @Nullable() @IsNumber() @Min(0) estimatedDowntimeSeconds!: number | null;
  /**
   * The shortest stop of the guest in seconds, which is far from the longest until a move has measured how long the
   * guest takes to shut down; null when it is not running.
   */
  @Nullable() @IsNumber() @Min(0) minDowntimeSeconds!: number | null;
  /** The longest stop of the guest in seconds; null when it is not running. */
  @Nullable() @IsNumber() @Min(0) maxDowntimeSeconds!: number | null;
  /** The format of the new disks; empty when it is unknown. */
  @IsString() format!: string;
  /** Whether the source is deleted once the copy was verified. */
  @IsBoolean() deleteSource!: boolean;
  /**
   * How long past moves in this mode took, with about the same number of bytes between the same contexts; absent if
   * none was measured. The downtime is estimated for this VM.
   */
  @Optional() @Nested(() => SecondsView) seconds?: SecondsView;
}

/** A refusal of one VM of a queue. */
export class MemberRefusalView extends MoveConcernView {
  /** The ref of the VM. */
  @IsString() ref!: string;
}

/** The plan of a queue of moves, when refs or query was set. */
export class MoveQueuePlanView {
  /** Whether no VM is refused. */
  @IsBoolean() ok!: boolean;
  /** All reasons of all VMs, also those that only all of them together have. */
  @IsArray() @Nested(() => MemberRefusalView, { each: true }) refusals!: MemberRefusalView[];
  /** Consequences that the caller may not expect, one sentence each. */
  @IsArray() @IsString({ each: true }) warnings!: string[];
  /** The plan of each VM. */
  @IsArray() @Nested(() => MovePlanView, { each: true }) members!: MovePlanView[];
  /** Roughly how many bytes are transferred. */
  @IsInt() @Min(0) estimatedBytes!: number;
  /** How many seconds the copies take, one after the other. */
  @IsNumber() @Min(0) estimatedSeconds!: number;
  /** The number of VMs that are moved from or to one context at the same time. */
  @IsInt() @Min(1) perHost!: number;
  /** Whether each source is deleted once its copy was verified. */
  @IsBoolean() deleteSource!: boolean;
}

/**
 * POST /api/move with refs or query, when it was accepted. A refused one has status 409, the plan, and `error` and
 * `code`.
 */
export class MoveQueueAcceptedView {
  /** The ID of the bulk task. */
  @IsString() task!: string;
  /** The plan that is carried out. */
  @Nested(() => MoveQueuePlanView) plan!: MoveQueuePlanView;
}

/** 409 of POST /api/move: the plan with the refusals. */
export class RefusedMoveView extends MovePlanView {
  /** One sentence about the first refusal. */
  @IsString() error!: string;
  /** `MOVE_REFUSED`. */
  @IsIn(ERROR_CODES) code!: ErrorCode;
}

/** 409 of POST /api/move with refs or query: the plan with the refusals. */
export class RefusedMoveQueueView extends MoveQueuePlanView {
  /** One sentence about the first refusal. */
  @IsString() error!: string;
  /** `MOVE_REFUSED`. */
  @IsIn(ERROR_CODES) code!: ErrorCode;
}

/** POST /api/move, when it was accepted. A refused one has status 409, the plan, and `error` and `code`. */
export class MoveAcceptedView {
  /** The ID of the task. */
  @IsString() task!: string;
  /** The plan that is carried out. */
  @Nested(() => MovePlanView) plan!: MovePlanView;
}

import { isVolumeName } from '@headgate/domain-contracts';
import {
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsString,
  Matches,
  MaxLength,
  Min,
  ValidateBy,
} from 'class-validator';
import { PlanStepView } from './answers.js';
import { IsContextName, IsInstanceName, Nested, Nullable, Optional } from './fields.js';

export const MOVE_MODES = ['cold', 'warm', 'live'] as const;
export type MoveMode = (typeof MOVE_MODES)[number];

const MAX_MAPPED_NAMES = 64;

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
  @Optional() @IsNameMap() networks?: Record<string, string>;
  @Optional() @IsNameMap() storageClasses?: Record<string, string>;
}

/** POST /api/move and /api/move/preflight */
export class MoveDto {
  /** `vm/<context>/<namespace>/<name>`, as in the lists. */
  @IsString() @MaxLength(1024) ref!: string;
  /** The kind of the destination, such as `libvirt` or `kubevirt`. */
  @IsString() @MaxLength(63) @Matches(/^[a-z][a-z0-9-]*$/) toBackend!: string;
  /** May be absent if only one other context is of that kind. */
  @Optional() @IsContextName() toContext?: string;
  @Optional() @IsInstanceName() toNamespace?: string;
  /** The name of the source by default. */
  @Optional() @IsInstanceName() name?: string;
  /** Has no effect: the disks are streamed, so no space is needed in between. */
  @Optional() @IsScratch() scratch?: boolean | string;
  /** Whether to delete the source once the copy was verified. */
  @Optional() @IsBoolean() deleteSource?: boolean;
  /** `cold`, the default: the guest is stopped during the copy. `warm` and `live` are refused. */
  @Optional() @IsIn(MOVE_MODES) mode?: MoveMode;
  @Optional() @IsObject() @Nested(() => MoveMappingDto) mapping?: MoveMappingDto;
}

export class DestinationView {
  /** The kind. */
  @IsString() backend!: string;
  @IsString() context!: string;
  /** Whether it can receive VMs. */
  @IsBoolean() can!: boolean;
  /** Why not. */
  @Optional() @IsString() reason?: string;
}

/** GET /api/move/destinations */
export class DestinationsView {
  @IsArray() @Nested(() => DestinationView, { each: true }) destinations!: DestinationView[];
}

export class MoveConcernView {
  /** Stable, in upper case. */
  @IsString() code!: string;
  @IsString() reason!: string;
  @IsString() remedy!: string;
  /** The part of the move that it is about. */
  @IsIn(['request', 'source', 'destination', 'storage']) category!: string;
  /** A critical concern always blocks the move. */
  @IsIn(['critical', 'warning']) severity!: string;
}

/** The plan of a move. */
export class MovePlanView {
  /** Whether there is no refusal. */
  @IsBoolean() ok!: boolean;
  /** A ref. */
  @IsString() source!: string;
  /** A ref; empty while the request does not determine one. */
  @IsString() destination!: string;
  @IsIn(MOVE_MODES) mode!: string;
  @IsArray() @Nested(() => PlanStepView, { each: true }) steps!: PlanStepView[];
  @IsArray() @IsString({ each: true }) warnings!: string[];
  /** Properties of the VM that the copy will not have. */
  @IsArray() @IsString({ each: true }) dropped!: string[];
  /** All reasons why the move is refused, each with its remedy. */
  @IsArray() @Nested(() => MoveConcernView, { each: true }) refusals!: MoveConcernView[];
  /** Roughly how much is transferred. */
  @IsInt() @Min(0) estimatedBytes!: number;
  /** How long the guest will be stopped; null when it does not run. */
  @Nullable() @IsNumber() @Min(0) estimatedDowntimeSeconds!: number | null;
  /** The format of the new disks; empty when it is unknown. */
  @IsString() format!: string;
  @IsBoolean() deleteSource!: boolean;
}

/** POST /api/move, when it was accepted. A refused one has status 409, the plan, and `error` and `code`. */
export class MoveAcceptedView {
  /** The ID of the task. */
  @IsString() task!: string;
  @Nested(() => MovePlanView) plan!: MovePlanView;
}

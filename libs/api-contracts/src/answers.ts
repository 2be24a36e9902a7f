import { IsArray, IsBoolean, IsIn, IsObject, IsString } from 'class-validator';
import { Nested, Optional } from './fields.js';

/** The body of every error. */
export class ErrorView {
  /** One sentence: what is wrong and what would be right. */
  @IsString() error!: string;
  /** A stable upper-case identifier. */
  @IsString() code!: string;
  /** Data that helps a client to act. */
  @Optional() details?: unknown;
}

/** An action was accepted. */
export class StatusView {
  @IsString() status!: string;
}

/** 201 of a create. */
export class CreatedView {
  @IsString() name!: string;
  @IsString() namespace!: string;
  @IsString() ref!: string;
  /** Present while the disk is still being filled: GET /api/tasks/{id} tells how far it is. */
  @Optional() @IsString() task?: string;
}

/** 202: the work goes on as a task. */
export class AcceptedView {
  @IsString() task!: string;
  @Optional() @IsString() status?: string;
}

export class PlanStepView {
  @IsString() name!: string;
  @IsString() detail!: string;
}

export class RefusalView {
  @IsString() code!: string;
  @IsString() reason!: string;
  @IsString() remedy!: string;
}

/** The answer of a rehearsal (`?dryRun=true`): what would be done. Nothing was changed. */
export class PlanView {
  @IsArray() @Nested(() => PlanStepView, { each: true }) steps!: PlanStepView[];
  @IsArray() @IsString({ each: true }) warnings!: string[];
  @IsArray() @Nested(() => RefusalView, { each: true }) refusals!: RefusalView[];
}

/** GET /api/whoami */
export class WhoamiView {
  @IsString() login!: string;
  @IsString() name!: string;
  @IsBoolean() admin!: boolean;
  /** Whether an allowlist of administrators exists. */
  @IsBoolean() enforced!: boolean;
}

/** An element of GET /api/nodes. */
export class NodeView {
  @IsString() name!: string;
  @IsBoolean() ready!: boolean;
  /** Comma-separated. */
  @IsString() roles!: string;
  /** Version of the agent that runs guests there. */
  @IsString() kubelet!: string;
  @IsString() arch!: string;
  @IsString() context!: string;
}

/** What one context can do. */
export class ContextCapabilitiesView {
  @IsString() context!: string;
  @IsString() backend!: string;
  /** Whether it can be reached right now. */
  @IsBoolean() up!: boolean;
  @Optional() @IsString() reason?: string;
  /** Whether its guests are simulated. */
  @IsBoolean() simulated!: boolean;
  /** Ability name → true, or a sentence that says why not. */
  @IsObject() abilities!: Record<string, true | string>;
  /** Source of a new VM → true, or a sentence that says why not. */
  @IsObject() sources!: Record<string, true | string>;
}

/** GET /api/capabilities */
export class CapabilitiesView {
  /** Default storage class for new VM disks. */
  @IsString() storageClass!: string;
  @IsBoolean() canExpand!: boolean;
  @IsBoolean() canSnapshot!: boolean;
  @IsBoolean() bootc!: boolean;
  @IsArray() @Nested(() => ContextCapabilitiesView, { each: true }) contexts!: ContextCapabilitiesView[];
}

/** GET /api/instancetypes */
export class InstancetypesView {
  @IsArray() @IsString({ each: true }) instancetypes!: string[];
  @IsArray() @IsString({ each: true }) preferences!: string[];
}

/** An element of GET /api/images. */
export class CatalogEntryView {
  @IsString() name!: string;
  @IsString() description!: string;
  @IsString() containerDisk!: string;
  @IsString() defaultUser!: string;
  @Optional() @IsBoolean() custom?: boolean;
}

/** An element of GET /api/doctor. */
export class CheckView {
  @IsString() name!: string;
  @IsIn(['ok', 'warning', 'error']) status!: 'ok' | 'warning' | 'error';
  @IsString() message!: string;
  @IsString() context!: string;
  @IsBoolean() fixable!: boolean;
  @IsString() remedy!: string;
}

/** GET /readyz */
export class ReadyView {
  @IsString() status!: string;
}

/** POST /api/doctor/fix */
export class FixedView {
  @IsArray() @IsString({ each: true }) fixed!: string[];
}

import { IMAGE_KINDS, PLACEMENT_FIELDS, type ImageKind, type PlacementField } from '@headgate/domain-contracts';
import { IsArray, IsBoolean, IsIn, IsInt, IsObject, IsString, Min } from 'class-validator';
import { RoleView } from './access.js';
import { Nested, Optional } from './fields.js';
import { NodeResourcesView } from './metrics.js';

/** The body of every error. */
export class ErrorView {
  /** One sentence that names the problem and the remedy. */
  @IsString() error!: string;
  /** A stable upper-case identifier. */
  @IsString() code!: string;
  /** Data that helps a client to react. */
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
  /** The task that fills the disk, when there is one: GET /api/tasks/{id} reports its progress. */
  @Optional() @IsString() task?: string;
  /** Parts of the order that the VM lacks, one sentence each. */
  @Optional() @IsArray() @IsString({ each: true }) warnings?: string[];
}

/** 202: the work continues as a task. */
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

/** The response to a dry run (`?dryRun=true`): the steps that a real run would take. */
export class PlanView {
  @IsArray() @Nested(() => PlanStepView, { each: true }) steps!: PlanStepView[];
  @IsArray() @IsString({ each: true }) warnings!: string[];
  @IsArray() @Nested(() => RefusalView, { each: true }) refusals!: RefusalView[];
}

/**
 * Which callers on this machine are let in: `users` are certain users by the ID that the kernel reports, `token` is a browser with
 * the one-time token of the start, and `open` is everyone.
 */
export const TRUST_KINDS = ['users', 'token', 'open'] as const;
export type TrustKind = (typeof TRUST_KINDS)[number];

/** GET /api/whoami */
export class WhoamiView {
  @IsString() login!: string;
  @IsString() name!: string;
  @IsBoolean() admin!: boolean;
  /** Whether an allowlist of administrators exists. */
  @IsBoolean() enforced!: boolean;
  /** Which callers on this machine are let in. */
  @IsIn(TRUST_KINDS) trust!: TrustKind;
  /** The ID of the API token of the request. */
  @Optional() @IsString() token?: string;
  /** The roles of a caller whose rights are limited by them. */
  @Optional() @IsArray() @Nested(() => RoleView, { each: true }) roles?: RoleView[];
}

/** An element of GET /api/nodes. */
export class NodeView {
  @IsString() name!: string;
  @IsBoolean() ready!: boolean;
  /** Comma-separated. */
  @IsString() roles!: string;
  /** Version of the agent that runs guests on the node. */
  @IsString() kubelet!: string;
  @IsString() arch!: string;
  @IsString() context!: string;
  @Nested(() => NodeResourcesView) capacity!: NodeResourcesView;
  /** The part of the capacity that is in use. */
  @Nested(() => NodeResourcesView) load!: NodeResourcesView;
}

/** Which namespaces the instances of a context may have. */
export class NamespaceRuleView {
  /** The namespace of a new instance that names none. */
  @IsString() default!: string;
  /** Whether it is the only one. */
  @IsBoolean() isOnlyOne!: boolean;
}

/** Which names a context accepts for new instances, in addition to the rule of the API. */
export class InstanceNameRuleView {
  /** A regular expression that the whole name matches. */
  @IsString() pattern!: string;
  @IsInt() @Min(1) maxLength!: number;
  /** Completes the sentence "name must …". */
  @IsString() description!: string;
}

/** The kind and the abilities of one context. */
export class ContextCapabilitiesView {
  @IsString() context!: string;
  /** The kind of the backend, such as `kubevirt`. */
  @IsString() backend!: string;
  /** The name of the kind for people. */
  @IsString() label!: string;
  @Nested(() => NamespaceRuleView) namespaces!: NamespaceRuleView;
  @Nested(() => InstanceNameRuleView) instanceNames!: InstanceNameRuleView;
  /** The kinds of catalog images that it can use. */
  @IsArray() @IsIn(IMAGE_KINDS, { each: true }) imageKinds!: ImageKind[];
  /** Whether the context is a single host, whose VMs are migrated to other contexts of its kind. */
  @IsBoolean() isSingleHost!: boolean;
  /** The fields of a new VM that only some backends have and this one has. */
  @IsArray() @IsIn(PLACEMENT_FIELDS, { each: true }) placementFields!: PlacementField[];
  /** Whether it can be reached right now. */
  @IsBoolean() up!: boolean;
  @Optional() @IsString() reason?: string;
  /** Whether its guests are simulated. */
  @IsBoolean() simulated!: boolean;
  /** Ability name → true, or the reason why it is unavailable. */
  @IsObject() abilities!: Record<string, true | string>;
  /** Source of a new VM → true, or the reason why it is unavailable. */
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

/** The size of an instancetype. */
export class InstancetypeSizeView {
  @IsString() name!: string;
  @IsInt() @Min(1) cpu!: number;
  /** Binary quantity. */
  @IsString() mem!: string;
}

/** GET /api/instancetypes */
export class InstancetypesView {
  @IsArray() @IsString({ each: true }) instancetypes!: string[];
  @IsArray() @IsString({ each: true }) preferences!: string[];
  /** Of the instancetypes whose size is known. */
  @IsArray() @Nested(() => InstancetypeSizeView, { each: true }) sizes!: InstancetypeSizeView[];
}

/** An element of GET /api/nads. */
export class NetworkView {
  @IsString() namespace!: string;
  @IsString() name!: string;
  /** `namespace/name`, as POST /api/vms/{ns}/{name}/nics takes it. */
  @IsString() ref!: string;
  @IsString() context!: string;
}

/** An element of GET /api/images. */
export class CatalogEntryView {
  @IsString() name!: string;
  @IsString() description!: string;
  @IsString() containerDisk!: string;
  /** A context can use the image when its `imageKinds` list this. */
  @IsIn(IMAGE_KINDS) kind!: ImageKind;
  /** Where an image of the kinds `url` and `iso` is downloaded from. */
  @Optional() @IsString() uri?: string;
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

import {
  ERROR_CODES,
  IMAGE_KINDS,
  PLACEMENT_FIELDS,
  type ErrorCode,
  type ImageKind,
  type PlacementField,
} from '@headgate/domain-contracts';
import { IsArray, IsBoolean, IsIn, IsInt, IsNumber, IsString, Min } from 'class-validator';
import { RoleView } from './access.js';
import { IsMap, Nested, Optional } from './fields.js';
import { NodeResourcesView } from './metrics.js';

/** The body of every error. */
export class ErrorView {
  /** One sentence that names the problem and the remedy. */
  @IsString() error!: string;
  /** A stable upper-case identifier. */
  @IsIn(ERROR_CODES) code!: ErrorCode;
  /** Data that helps a client to react. */
  @Optional() details?: unknown;
}

/** An action was accepted. */
export class StatusView {
  /** The outcome in one word, such as `ok`, `deleted` or `removed`. */
  @IsString() status!: string;
}

/** 201 of a create. */
export class CreatedView {
  /** The name of the new instance. */
  @IsString() name!: string;
  /** Its namespace. */
  @IsString() namespace!: string;
  /** Its ref, which names it in all contexts: `vm/<context>/<namespace>/<name>`, or `ct/…`. */
  @IsString() ref!: string;
  /** The task that fills the disk, when there is one: GET /api/tasks/{id} reports its progress. */
  @Optional() @IsString() task?: string;
  /** Parts of the order that the VM lacks, one sentence each. */
  @Optional() @IsArray() @IsString({ each: true }) warnings?: string[];
}

/** 202: the work continues as a task. */
export class AcceptedView {
  /** The ID of the task: GET /api/tasks/{id} reports its progress. */
  @IsString() task!: string;
  /** `ok`; may be absent. */
  @Optional() @IsString() status?: string;
}

/** How long past runs took. */
export class SecondsView {
  /** In seconds: the shortest of fewer than five runs, otherwise less than one in ten was shorter. */
  @IsNumber() @Min(0) low!: number;
  /** In seconds: the longest of fewer than five runs, otherwise less than one in ten was longer. */
  @IsNumber() @Min(0) high!: number;
  /** The number of past runs that the range comes from: the last ones, at most 20 of each context. */
  @IsInt() @Min(1) measured!: number;
}

/** One step of a plan. */
export class PlanStepView {
  /** The name of the step, such as `create`. */
  @IsString() name!: string;
  /** One sentence that names the objects of the step. */
  @IsString() detail!: string;
  /** How long the step took in past runs; absent if it was never measured. */
  @Optional() @Nested(() => SecondsView) seconds?: SecondsView;
}

/** A reason why a request would be refused. */
export class RefusalView {
  /** The code with which the request would fail. */
  @IsIn(ERROR_CODES) code!: ErrorCode;
  /** One sentence about the problem. */
  @IsString() reason!: string;
  /** One sentence about the remedy; may be empty. */
  @IsString() remedy!: string;
}

/** The response to a dry run (`?dryRun=true`): the steps that a real run would take. */
export class PlanView {
  /** The steps in their order; empty if the request would be refused. */
  @IsArray() @Nested(() => PlanStepView, { each: true }) steps!: PlanStepView[];
  /** Consequences that the caller may not expect, one sentence each. */
  @IsArray() @IsString({ each: true }) warnings!: string[];
  /** All reasons why the request would fail; empty if it would succeed. */
  @IsArray() @Nested(() => RefusalView, { each: true }) refusals!: RefusalView[];
  /**
   * How long past runs took, from the request to the end of its task or of the guest's shutdown; absent if none was
   * measured.
   */
  @Optional() @Nested(() => SecondsView) seconds?: SecondsView;
  /** How long the guest was stopped or paused in past runs; absent if that was never measured. */
  @Optional() @Nested(() => SecondsView) interruption?: SecondsView;
}

/**
 * Which callers on this machine are let in: `users` are certain users by the ID that the kernel reports, `token` is a
 * browser with the one-time token of the start, and `open` is everyone.
 */
export const TRUST_KINDS = ['users', 'token', 'open'] as const;
export type TrustKind = (typeof TRUST_KINDS)[number];

/** GET /api/whoami */
export class WhoamiView {
  /** The login of the caller; empty without an identity. */
  @IsString() login!: string;
  /** The display name of the caller; may be empty. */
  @IsString() name!: string;
  /** Whether the caller is an administrator, or has roles that permit changes. */
  @IsBoolean() admin!: boolean;
  /** Whether an allowlist of administrators exists. */
  @IsBoolean() enforced!: boolean;
  /** Which callers on this machine are let in. */
  @IsIn(TRUST_KINDS) trust!: TrustKind;
  /** The ID of the API token of the request. */
  @Optional() @IsString() token?: string;
  /** The ID of the session of the browser, if the user has logged in here. */
  @Optional() @IsString() session?: string;
  /** The groups of the caller, as the login provider reports them. */
  @Optional() @IsArray() @IsString({ each: true }) groups?: string[];
  /** The roles of a caller whose rights are limited by them. */
  @Optional() @IsArray() @Nested(() => RoleView, { each: true }) roles?: RoleView[];
}

/** An element of GET /api/nodes. */
export class NodeView {
  /** The name of the node, or of the host. */
  @IsString() name!: string;
  /** Whether it can run guests. */
  @IsBoolean() ready!: boolean;
  /** Comma-separated. */
  @IsString() roles!: string;
  /** Version of the agent that runs guests on the node. */
  @IsString() kubelet!: string;
  /** The architecture of its CPUs, such as `amd64`. */
  @IsString() arch!: string;
  /** The context that it belongs to. */
  @IsString() context!: string;
  /** The resources that it has. */
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
  /** The maximum length of a name in characters. */
  @IsInt() @Min(1) maxLength!: number;
  /** Completes the sentence "name must …". */
  @IsString() description!: string;
}

/** The schema of an ability: whether it is there, or why not. */
const TRUE_OR_REASON = { anyOf: [{ type: 'boolean', const: true }, { type: 'string' }] };

/** The kind and the abilities of one context. */
export class ContextCapabilitiesView {
  /** The name of the context. */
  @IsString() context!: string;
  /** The kind of the backend, such as `kubevirt`. */
  @IsString() backend!: string;
  /** The name of the kind for people. */
  @IsString() label!: string;
  /** The namespaces that its instances may have. */
  @Nested(() => NamespaceRuleView) namespaces!: NamespaceRuleView;
  /** The names that it accepts for new instances. */
  @Nested(() => InstanceNameRuleView) instanceNames!: InstanceNameRuleView;
  /** The kinds of catalog images that it can use. */
  @IsArray() @IsIn(IMAGE_KINDS, { each: true }) imageKinds!: ImageKind[];
  /** Whether the context is a single host, whose VMs are migrated to other contexts of its kind. */
  @IsBoolean() isSingleHost!: boolean;
  /** The fields of a new VM that only some backends have and this one has. */
  @IsArray() @IsIn(PLACEMENT_FIELDS, { each: true }) placementFields!: PlacementField[];
  /** Whether it can be reached right now. */
  @IsBoolean() up!: boolean;
  /** Why it can't be reached; absent while it can. */
  @Optional() @IsString() reason?: string;
  /** Whether its guests are simulated. */
  @IsBoolean() simulated!: boolean;
  /** Ability name → true, or the reason why it is unavailable. */
  @IsMap(TRUE_OR_REASON) abilities!: Record<string, true | string>;
  /** Name of an ability on single instances → true, or the reason why it is unavailable for containers. */
  @IsMap(TRUE_OR_REASON) containerAbilities!: Record<string, true | string>;
  /** Source of a new VM → true, or the reason why it is unavailable. */
  @IsMap(TRUE_OR_REASON) sources!: Record<string, true | string>;
}

/** GET /api/capabilities */
export class CapabilitiesView {
  /** Default storage class for new VM disks. */
  @IsString() storageClass!: string;
  /** Whether a context has storage whose volumes can be expanded. */
  @IsBoolean() canExpand!: boolean;
  /** Whether a context can take snapshots of volumes. */
  @IsBoolean() canSnapshot!: boolean;
  /** Whether VMs can be created from bootc images, which needs the bootc plugin. */
  @IsBoolean() bootc!: boolean;
  /** The kind and the abilities of each context. */
  @IsArray() @Nested(() => ContextCapabilitiesView, { each: true }) contexts!: ContextCapabilitiesView[];
}

/** The size of an instancetype. */
export class InstancetypeSizeView {
  /** The name of the instancetype. */
  @IsString() name!: string;
  /** The number of CPUs. */
  @IsInt() @Min(1) cpu!: number;
  /** Binary quantity. */
  @IsString() mem!: string;
}

/** GET /api/instancetypes */
export class InstancetypesView {
  /** The names of the instancetypes. */
  @IsArray() @IsString({ each: true }) instancetypes!: string[];
  /** The names of the preferences. */
  @IsArray() @IsString({ each: true }) preferences!: string[];
  /** Of the instancetypes whose size is known. */
  @IsArray() @Nested(() => InstancetypeSizeView, { each: true }) sizes!: InstancetypeSizeView[];
}

/** An element of GET /api/nads. */
export class NetworkView {
  /** The namespace of the network. */
  @IsString() namespace!: string;
  /** The name of the network, or of the network attachment definition. */
  @IsString() name!: string;
  /** `namespace/name`, as POST /api/vms/{ns}/{name}/nics takes it. */
  @IsString() ref!: string;
  /** The context that has it. */
  @IsString() context!: string;
}

/** An element of GET /api/images. */
export class CatalogEntryView {
  /** The name, as the field `image` of a new VM takes it. */
  @IsString() name!: string;
  /** One sentence about the image; may be empty. */
  @IsString() description!: string;
  /** The image in a registry; empty for an image of another kind. */
  @IsString() containerDisk!: string;
  /** A context can use the image when its `imageKinds` list this. */
  @IsIn(IMAGE_KINDS) kind!: ImageKind;
  /** Where an image of the kinds `url` and `iso` is downloaded from. */
  @Optional() @IsString() uri?: string;
  /** The account to log in with; empty if it is unknown. */
  @IsString() defaultUser!: string;
  /** True for a custom source; absent for an image of the catalog. */
  @Optional() @IsBoolean() custom?: boolean;
}

/** An element of GET /api/doctor. */
export class CheckView {
  /** The name of the check. */
  @IsString() name!: string;
  /** The result of the check. */
  @IsIn(['ok', 'warning', 'error']) status!: 'ok' | 'warning' | 'error';
  /** One sentence about the result. */
  @IsString() message!: string;
  /** The context that was checked, or another subject such as `plugin/<name>`. */
  @IsString() context!: string;
  /** Whether POST /api/doctor/fix can repair it. */
  @IsBoolean() fixable!: boolean;
  /** What to do about it; empty if nothing is wrong. */
  @IsString() remedy!: string;
}

/** GET /readyz */
export class ReadyView {
  /** `ready`. */
  @IsString() status!: string;
}

/** POST /api/doctor/fix */
export class FixedView {
  /** The names of the checks that were repaired. */
  @IsArray() @IsString({ each: true }) fixed!: string[];
}

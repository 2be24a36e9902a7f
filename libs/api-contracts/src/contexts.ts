import { IsArray, IsBoolean, IsIn, IsISO8601, IsString } from 'class-validator';
import { IsBackendKind, IsContextName, IsInstanceName, IsMap, Nested, Optional } from './fields.js';

/** POST /api/ext/contexts/test */
export class TestContextDto {
  /** The name that the context would have. */
  @IsInstanceName() name!: string;
  /** The kind of the backend. */
  @IsBackendKind() kind!: string;
  /**
   * The settings of the kind. `kubevirt`: `kubeconfig` (its text) or `kubeconfigFile`, `kubeContext`. `libvirt`: `uri`.
   * `incus`: `socket` or `address`, `fingerprint`, `trustToken`, `project`. All are strings.
   */
  @IsMap({ type: 'string' }) settings!: Record<string, string>;
}

/** POST /api/ext/contexts */
export class AddContextDto extends TestContextDto {
  /** Adds the context although its test fails, for example because its machine is switched off. Default false. */
  @Optional() @IsBoolean() despiteErrors?: boolean;
}

/** PATCH /api/ext/contexts/{name} */
export class ChangeContextDto {
  /**
   * New values of settings; null removes one, and all others are kept. A secret that is not given is kept for the same
   * server only.
   */
  @IsMap({ type: ['string', 'null'] }) settings!: Record<string, string | null>;
  /** Changes the context although its test fails. Default false. */
  @Optional() @IsBoolean() despiteErrors?: boolean;
}

/** `{name}` of a path. */
export class ContextPath {
  /** The name of a context. */
  @IsContextName() name!: string;
}

/** One step of the test of a context. */
export class ContextCheckView {
  /** The name of the check. */
  @IsString() name!: string;
  /** The result of the check. */
  @IsIn(['ok', 'warning', 'error']) status!: 'ok' | 'warning' | 'error';
  /** One sentence about the result. */
  @IsString() message!: string;
  /** What to do about it; empty if nothing is wrong. */
  @IsString() remedy!: string;
}

/** The result of the test of a context. */
export class ContextTestView {
  /** Whether no check has failed. Warnings do not count. */
  @IsBoolean() ok!: boolean;
  /** The checks, in their order. */
  @IsArray() @Nested(() => ContextCheckView, { each: true }) checks!: ContextCheckView[];
}

export const CONTEXT_ORIGINS = ['configuration', 'added'] as const;
export const CONTEXT_STATES = ['connecting', 'up', 'lost', 'unused'] as const;

/** A context, without its secrets. */
export class ContextView {
  /** Its name. */
  @IsString() name!: string;
  /** The word of its kind in the configuration. */
  @IsString() kind!: string;
  /**
   * `configuration`: from the configuration file, the command line, or found when the service started. `added`: over
   * the API.
   */
  @IsIn(CONTEXT_ORIGINS) origin!: (typeof CONTEXT_ORIGINS)[number];
  /** Whether it can be reached. `unused`: the service does not use it; `reason` says why. */
  @IsIn(CONTEXT_STATES) state!: (typeof CONTEXT_STATES)[number];
  /** Why it is lost or unused. */
  @Optional() @IsString() reason?: string;
  /** Its settings without secrets, such as `uri`. */
  @IsMap({ type: 'string' }) settings!: Record<string, string>;
  /** The login of the administrator who added it; empty for one without an identity. */
  @Optional() @IsString() creator?: string;
  /** When it was added, in ISO 8601. */
  @Optional() @IsISO8601() addedAt?: string;
}

/** GET /api/ext/contexts */
export class ContextsView {
  /** All contexts: those of the configuration, then the added ones. */
  @IsArray() @Nested(() => ContextView, { each: true }) contexts!: ContextView[];
  /** The kinds of contexts that can be added. */
  @IsArray() @IsString({ each: true }) kinds!: string[];
  /** Why the caller can't add contexts. Absent: they can. */
  @Optional() @IsString() refusal?: string;
}

/** The response to a new or changed context. */
export class AddedContextView {
  /** The context. */
  @Nested(() => ContextView) context!: ContextView;
  /** The checks of its test. */
  @IsArray() @Nested(() => ContextCheckView, { each: true }) checks!: ContextCheckView[];
}

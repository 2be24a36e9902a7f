import { INSTANCE_KINDS, type InstanceKind } from '@headgate/domain-contracts';
import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { IsContextName, IsInstanceName, IsSwitch, Optional } from './fields.js';

/** `{ns}` and `{name}` of a path. */
export class InstancePath {
  @IsInstanceName() ns!: string;
  @IsInstanceName() name!: string;
}

/** `{ns}`, `{name}` and `{action}` of a path. */
export class InstanceActionPath extends InstancePath {
  @IsString() action!: string;
}

/** Picks one of several instances of the same name. */
export class ContextQuery {
  @Optional() @IsContextName() context?: string;
}

/** Of every POST and DELETE: `dryRun=true` answers the plan and changes nothing. */
export class ChangeQuery extends ContextQuery {
  @Optional() @IsSwitch() dryRun?: 'true' | 'false';
}

/** Of the power actions. */
export class PowerQuery extends ChangeQuery {
  /** Pulls the plug instead of asking the guest. */
  @Optional() @IsSwitch() force?: 'true' | 'false';
}

/** Of the console sockets. */
export class ConsoleQuery extends ContextQuery {
  @Optional() @IsIn(INSTANCE_KINDS) kind?: InstanceKind;
}

/** Of the web console's script. */
export class ScriptQuery {
  /** What draws consoles is a part of its own, loaded by whoever opens one. */
  @Optional() @IsIn(['consoles']) part?: 'consoles';
}

export const SORT_FIELDS = [
  'name',
  'namespace',
  'status',
  'cpu',
  'mem',
  'disk',
  'node',
  'createdAt',
  'context',
] as const;
export type SortField = (typeof SORT_FIELDS)[number];

/** Of the lists. With none of them the whole list is answered. */
export class ListQuery extends ContextQuery {
  /** Words that must all be found in name, namespace, status, node, ip or tags. */
  @Optional() @IsString() @MaxLength(256) q?: string;
  /** A field's name; with "-" before it the order is reversed. */
  @Optional() @IsIn([...SORT_FIELDS, ...SORT_FIELDS.map((field) => `-${field}`)]) sort?: SortField | `-${SortField}`;
  /** At most so many entries, 1 to 10000; the header Svc-Cursor then leads on. */
  @Optional() @Matches(/^[1-9]\d{0,4}$/, { message: '$property must be a number from 1 to 10000.' }) limit?: string;
  /** Svc-Cursor of the page before. */
  @Optional()
  @Matches(/^[A-Za-z0-9_-]{1,1024}$/, { message: '$property must be the Svc-Cursor of the page before.' })
  cursor?: string;
}

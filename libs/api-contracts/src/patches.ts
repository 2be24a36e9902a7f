import { isTag } from '@headgate/domain-contracts';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  Max,
  Min,
  ValidateBy,
} from 'class-validator';
import { IsMemorySize, IsTag, Nullable, Optional } from './fields.js';
import { HardwareChangeView } from './hardware.js';

/** A tag is a label with this prefix. */
const TAG_LABEL = 'svc.dev/tag.';
const MAX_TAGS = 100;

const LABELS_RULE = `an object of at most ${MAX_TAGS} labels ${TAG_LABEL}NAME, each "true", true, or null to remove it: the labels of an instance are its tags`;

/** The tag of a label; undefined for a label of another program. */
const tagOfLabel = (label: string): string | undefined => {
  const tag = label.startsWith(TAG_LABEL) ? label.slice(TAG_LABEL.length) : '';
  return isTag(tag) ? tag : undefined;
};

const isTagLabels = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value as Record<string, unknown>);
  return (
    entries.length <= MAX_TAGS &&
    entries.every(([label, on]) => tagOfLabel(label) !== undefined && [true, 'true', null].includes(on as never))
  );
};

/** Labels of tags, in a merge patch. */
const IsTagLabels = (): PropertyDecorator =>
  ValidateBy({
    name: 'isTagLabels',
    constraints: [
      {
        type: 'object',
        maxProperties: MAX_TAGS,
        propertyNames: { pattern: `^${TAG_LABEL.replaceAll('.', '\\.')}` },
        // Not as an enum of these values: generators of clients know no enums of several types.
        additionalProperties: { type: ['string', 'boolean', 'null'] },
        examples: [{ 'svc.dev/tag.prod': 'true', 'svc.dev/tag.old': null }],
      },
    ],
    validator: { validate: isTagLabels, defaultMessage: (args) => `${args?.property} must be ${LABELS_RULE}.` },
  });

/** Labels of a merge patch, with their values. */
export type TagLabels = Readonly<Record<string, 'true' | true | null>>;

/** The tags of labels, each with whether it is added or removed. */
export const tagsOfLabels = (labels: TagLabels): Record<string, boolean> =>
  Object.fromEntries(Object.entries(labels).map(([label, on]) => [tagOfLabel(label) ?? label, on !== null]));

/** PATCH /api/ext/cts/{ns}/{name}: a JSON merge patch (RFC 7396). Absent fields stay as they are. */
export class PatchContainerDto {
  /** All tags; null removes them. */
  @Optional() @Nullable() @IsArray() @ArrayMaxSize(MAX_TAGS) @ArrayUnique() @IsTag({ each: true }) tags?:
    string[] | null;
  /** Tags as labels, of which null removes one and the others stay. Not together with `tags`. */
  @Optional() @Nullable() @IsTagLabels() labels?: TagLabels | null;
}

/** PATCH /api/ext/vms/{ns}/{name}: a JSON merge patch (RFC 7396). Absent fields stay as they are. */
export class PatchVmDto extends PatchContainerDto {
  /** The number of virtual CPUs. */
  @Optional() @IsInt() @Min(1) @Max(512) cpu?: number;
  /** The memory of the guest. */
  @Optional() @IsMemorySize() mem?: string;
  /** Whether the VM is protected from deletion; null is the same as false. */
  @Optional() @Nullable() @IsBoolean() protected?: boolean | null;
  /** Whether the VM is started with its host; null is the same as false. */
  @Optional() @Nullable() @IsBoolean() autostart?: boolean | null;
}

/** The fields of a body whose refusals list them. */
const LISTED_FIELDS = new Map<unknown, readonly string[]>([
  [PatchContainerDto, ['tags', 'labels']],
  [PatchVmDto, ['cpu', 'mem', 'tags', 'labels', 'protected', 'autostart']],
]);

/** The fields that a patch of this class accepts; undefined for other classes. */
export const patchableFields = (type: unknown): readonly string[] | undefined => LISTED_FIELDS.get(type);

/** The fields of a patch that were changed: `size` is `cpu` or `mem`, `tags` is also `labels`. */
export const PATCHED_FIELDS = ['size', 'autostart', 'protected', 'tags'] as const;

/** The response to a patch. */
export class PatchedView extends HardwareChangeView {
  /** `ok`. */
  @IsString() status!: string;
  /** The fields that were not as declared: `size` is `cpu` or `mem`, `tags` is also `labels`. */
  @IsArray() @IsIn(PATCHED_FIELDS, { each: true }) changed!: (typeof PATCHED_FIELDS)[number][];
}

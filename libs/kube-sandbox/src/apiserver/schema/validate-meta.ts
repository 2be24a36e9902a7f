import { fieldInvalid, fieldRequired, type StatusCause } from '../api-error.js';
import type { ObjectMeta } from '../kube-object.js';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const NOT_A_SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NOT_A_LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const NOT_A_NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const NOT_A_LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** The format of names: `label` for namespaces and services, `path` for RBAC. */
export type NameRule = 'subdomain' | 'label' | 'path';

const NAME_RULES: Record<NameRule, { pattern: RegExp; max: number; why: string }> = {
  subdomain: { pattern: SUBDOMAIN, max: 253, why: NOT_A_SUBDOMAIN },
  label: { pattern: LABEL, max: 63, why: NOT_A_LABEL },
  path: { pattern: /^(?!\.{1,2}$)[^/%]+$/, max: 253, why: 'may not contain "/" or "%"' },
};

/** Validates the name, labels, annotations and finalizers of a new or changed object. */
export function validateMeta(meta: ObjectMeta, rule: NameRule): StatusCause[] {
  return [
    ...validateName(meta.name, rule),
    ...Object.entries(meta.labels ?? {}).flatMap(([key, value]) => [
      ...qualifiedNameCauses('metadata.labels', key),
      ...labelValueCauses('metadata.labels', value),
    ]),
    ...Object.keys(meta.annotations ?? {}).flatMap((key) =>
      qualifiedNameCauses('metadata.annotations', key.toLowerCase()),
    ),
    ...annotationSize(meta.annotations),
    ...(meta.finalizers ?? []).flatMap((finalizer, index) => validateFinalizer(finalizer, index)),
  ];
}

const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

function validateFinalizer(finalizer: string, index: number): StatusCause[] {
  const causes = qualifiedNameCauses('metadata.finalizers', finalizer);
  if (causes.length > 0 || finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return causes;
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  return [fieldInvalid(`metadata.finalizers[${index}]`, finalizer, why)];
}

function validateName(name: string, rule: NameRule): StatusCause[] {
  if (!name) return [fieldRequired('metadata.name', 'name or generateName is required')];
  const { pattern, max, why } = NAME_RULES[rule];
  if (name.length > max) return [fieldInvalid('metadata.name', name, `must be no more than ${max} characters`)];
  return pattern.test(name) ? [] : [fieldInvalid('metadata.name', name, why)];
}

/** The violations of a label key, also in a selector. */
export function qualifiedNameCauses(field: string, key: string): StatusCause[] {
  const [prefix, name, ...more] = key.includes('/') ? key.split('/') : [undefined, key];
  if (more.length > 0)
    return [
      fieldInvalid(field, key, 'a qualified name must consist of a prefix and a name, with one slash between them'),
    ];
  if (prefix !== undefined && !SUBDOMAIN.test(prefix))
    return [fieldInvalid(field, key, prefix ? `prefix part ${NOT_A_SUBDOMAIN}` : 'prefix part must be non-empty')];
  if (!name) return [fieldInvalid(field, key, 'name part must be non-empty')];
  if (name.length > 63) return [fieldInvalid(field, key, 'name part must be no more than 63 characters')];
  return NAME_PART.test(name) ? [] : [fieldInvalid(field, key, NOT_A_NAME_PART)];
}

export function labelValueCauses(field: string, value: string): StatusCause[] {
  if (value.length > 63) return [fieldInvalid(field, value, 'must be no more than 63 characters')];
  return LABEL_VALUE.test(value) ? [] : [fieldInvalid(field, value, NOT_A_LABEL_VALUE)];
}

function annotationSize(annotations: Record<string, string> = {}): StatusCause[] {
  const bytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (bytes <= MAX_ANNOTATIONS_BYTES) return [];
  return [
    {
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${MAX_ANNOTATIONS_BYTES} bytes`,
      field: 'metadata.annotations',
    },
  ];
}

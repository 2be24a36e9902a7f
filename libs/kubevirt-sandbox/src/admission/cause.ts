import type { StatusCause } from '@headgate/kube-sandbox';

/** Causes in the form of KubeVirt's webhooks, whose messages name the field. */
export const invalidValue = (field: string, message: string): StatusCause => ({
  reason: 'FieldValueInvalid',
  message,
  field,
});

export const requiredValue = (field: string, message: string): StatusCause => ({
  reason: 'FieldValueRequired',
  message,
  field,
});

export const duplicateValue = (field: string, message: string): StatusCause => ({
  reason: 'FieldValueDuplicate',
  message,
  field,
});

/** Reports the later one of two list entries with the same name. */
export function duplicateNames(path: string, entries: readonly { name: string }[]): StatusCause[] {
  return entries.flatMap(({ name }, index) => {
    const first = entries.findIndex((entry) => entry.name === name);
    return first < index
      ? [invalidValue(`${path}[${index}].name`, `${path}[${index}] and ${path}[${first}] must not have the same Name.`)]
      : [];
  });
}

import type { StatusCause } from '@headgate/kube-sandbox';

/** Causes as KubeVirt's webhooks give them: the message names the field itself. */
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

/** Two entries of a list that have one name; said of the later one. */
export function duplicateNames(path: string, entries: readonly { name: string }[]): StatusCause[] {
  return entries.flatMap(({ name }, index) => {
    const first = entries.findIndex((entry) => entry.name === name);
    return first < index
      ? [invalidValue(`${path}[${index}].name`, `${path}[${index}] and ${path}[${first}] must not have the same Name.`)]
      : [];
  });
}

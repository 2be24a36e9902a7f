import type { StatusCause } from '@headgate/kube-sandbox';

const RESERVED = [
  'kubevirt.io/created-by',
  'kubevirt.io/migrationJobUID',
  'kubevirt.io/nodeName',
  'kubevirt.io/migrationTargetNodeName',
  'kubevirt.io/schedulable',
  'kubevirt.io/install-strategy',
];

export const RESERVED_LABELS: readonly string[] = RESERVED;

/** Labels that only KubeVirt's own controllers may set. */
export function reservedLabelCauses(labels: Record<string, string> | undefined, field: string): StatusCause[] {
  return Object.keys(labels ?? {}).some((label) => RESERVED.includes(label))
    ? [
        {
          reason: 'FieldValueNotSupported',
          message: 'creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited',
          field,
        },
      ]
    : [];
}

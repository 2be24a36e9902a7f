/** Names on objects that this service reads and writes. Source: the API contract. */
export const LABEL = {
  /** On everything that belongs to a VM; the value is the VM's name. */
  vm: 'svc.dev/vm',
  /** `ct` on a container's pod, claim and Service. */
  kind: 'svc.dev/kind',
  /** The container's name. */
  name: 'svc.dev/name',
  /** `true` on a VM that is a template. */
  template: 'svc.dev/template',
  /** KubeVirt's own protection flag; it counts when its value is `True`. */
  deleteProtection: 'kubevirt.io/vm-delete-protection',
} as const;

export const ANNOTATION = {
  /** The container's spec as JSON, on its data claim. */
  spec: 'svc.dev/spec',
  /** Which create call made the object, so that a call whose answer was lost recognises its own. */
  createId: 'svc.dev/create-id',
  /** The size in bytes that was asked for, where the disk itself does not tell (container disks). */
  diskBytes: 'svc.dev/disk-bytes',
} as const;

export const TAG_PREFIX = 'svc.dev/tag.';

/** The tags among labels, sorted; a label counts when its value is `true`. */
export const tagsOf = (labels: Readonly<Record<string, string>> | undefined): readonly string[] => {
  const tags: string[] = [];
  for (const key in labels) {
    if (key.startsWith(TAG_PREFIX) && labels[key] === 'true') tags.push(key.slice(TAG_PREFIX.length));
  }
  return tags.length === 0 ? NO_TAGS : tags.sort();
};

/** One array for the many instances that have none. */
const NO_TAGS: readonly string[] = Object.freeze([]);

/** Selects a container's own objects; never by a guessed name. */
export const containerSelector = (name: string): string => `${LABEL.kind}=ct,${LABEL.name}=${name}`;

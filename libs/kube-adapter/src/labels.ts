/** Labels that this service reads and writes. Source: the API contract. */
export const LABEL = {
  /** On every object that belongs to a VM; the value is the VM's name. */
  vm: 'svc.dev/vm',
  /** `ct` on a container's pod, claim and Service, `image` on the DataVolume of an imported image. */
  kind: 'svc.dev/kind',
  /** The container's name. */
  name: 'svc.dev/name',
  /** On a VM that was moved here, and on its disks: the ID of the move. */
  move: 'svc.dev/move',
  /** `replica` on the Lease of each replica of this service. */
  lease: 'svc.dev/lease',
  /** On the objects of a disk that is being built: identifies the build. */
  build: 'svc.dev/build',
  /** On the snapshot, the export and the Secret of a backup that is being read: identifies the reading. */
  backup: 'svc.dev/backup',
  /** On the VM and the disks of a proof: its ID. */
  proof: 'svc.dev/proof',
  /** `true` on a VM that is a template. */
  template: 'svc.dev/template',
  /** A VM with the value `True` must not be deleted. The label is OpenShift's: KubeVirt itself does not enforce it. */
  deleteProtection: 'kubevirt.io/vm-delete-protection',
} as const;

export const ANNOTATION = {
  /** On the Lease of something that only one replica may use: its name. */
  claim: 'svc.dev/claim',
  /** The ID of the task that an object belongs to. */
  task: 'svc.dev/task',
  /** The container's spec as JSON, on its data claim. */
  spec: 'svc.dev/spec',
  /** The id of the create call, so that a call that got no response can recognize its own object. */
  createId: 'svc.dev/create-id',
  /**
   * The id of the call that has replaced an object last, so that a call that got no response can recognize its own
   * version.
   */
  writeId: 'svc.dev/write-id',
  /** When a new disk was created that is not attached to its VM yet. */
  attaching: 'svc.dev/attaching',
  /** The move of a disk to this volume until it is complete, as JSON. */
  diskMove: 'svc.dev/disk-move',
  /** On a VM with a moved disk: the uid of its live instance during the move. */
  movedDuring: 'svc.dev/disk-moved-during',
  /** The VM that is created once its disks are complete, as JSON, on its first disk. Without secrets. */
  movedVm: 'svc.dev/moved-vm',
  /** The short ID of libosinfo for the operating system of a guest that was moved here. */
  guestOs: 'svc.dev/guest-os',
  /** Why the upload of an image failed, on its DataVolume. CDI itself keeps waiting for the file. */
  uploadFailure: 'svc.dev/upload-failure',
  /** The series of the backup that a snapshot belongs to. */
  backupSeries: 'svc.dev/backup-series',
  /** Changes as long as a service reads the snapshot of a backup. */
  backupBeat: 'svc.dev/backup-beat',
  /** Changes as long as a service boots the VM of a proof. */
  proofBeat: 'svc.dev/proof-beat',
  /** The requested size in bytes of a disk whose object has no size (container disks). */
  diskBytes: 'svc.dev/disk-bytes',
} as const;

export const TAG_PREFIX = 'svc.dev/tag.';

/** The sorted tags of an object. A tag label counts when its value is `true`. */
export const tagsOf = (labels: Readonly<Record<string, string>> | undefined): readonly string[] => {
  const tags: string[] = [];
  for (const key in labels) {
    if (key.startsWith(TAG_PREFIX) && labels[key] === 'true') tags.push(key.slice(TAG_PREFIX.length));
  }
  return tags.length === 0 ? NO_TAGS : tags.sort();
};

/** One array for the many instances without tags. */
const NO_TAGS: readonly string[] = Object.freeze([]);

/** Selects the objects of a container by their labels. */
export const containerSelector = (name: string): string => `${LABEL.kind}=ct,${LABEL.name}=${name}`;

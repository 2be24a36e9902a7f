/** Identifies one object, and no other object of its name. */
export interface InstanceIdentity {
  /** The ref as text. */
  readonly ref: string;
  /** The backend's ID of the object. */
  readonly uid: string;
}

/** Bytes that are no snapshot, or not a whole one, or of another version. */
export class SnapshotError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SnapshotError';
  }
}

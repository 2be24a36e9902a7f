/** Writes the content of one disk. */
export interface DiskWriter {
  /**
   * Offsets ascend; parts that are not written are zeros. Resolves when the next part can be taken, which may be before
   * this one is on the disk.
   * @throws DomainError INSUFFICIENT_STORAGE, BACKEND_FAILED
   */
  write(offset: number, data: Buffer): Promise<void>;
  /** Resolves once everything is on the disk, which is free then. */
  finish(): Promise<void>;
  /** Frees the disk, whose content is undefined then. No error if it is free already. */
  abort(): Promise<void>;
}

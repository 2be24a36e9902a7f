/** Operations on files with the memory of a guest, which libvirt has written. The files are on libvirt's machine. */
export abstract class SavedMemoryOperations {
  /** The description of the domain in the file, with its secrets. */
  abstract xml(path: string): Promise<string>;
  /** Starts a stopped domain with the memory in the file. @param xml replaces the description in the file */
  abstract restore(path: string, xml: string): Promise<void>;
}

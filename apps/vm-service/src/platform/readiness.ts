/** Whether the service can do its work, as `/readyz` reports it. */
export abstract class Readiness {
  abstract get isReady(): boolean;

  /**
   * The space of the disk that holds the registry in this folder, and how much must be free for changes. Both in bytes.
   */
  abstract get registryDisk(): {
    readonly folder: string;
    readonly freeBytes: number;
    readonly requiredBytes: number;
  };

  /**
   * Checked before each change, while nothing was touched.
   * @throws DomainError REGISTRY_FULL when the change could not be recorded
   */
  abstract expectSpace(): void;
}

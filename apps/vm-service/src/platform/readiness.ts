/** Whether the service can do its work, as `/readyz` reports it. */
export abstract class Readiness {
  abstract get isReady(): boolean;
}

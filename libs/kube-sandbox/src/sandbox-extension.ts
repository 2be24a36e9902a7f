import type { AdmissionChain } from './apiserver/admission.js';
import type { SandboxClock } from './apiserver/clock.js';
import type { EventRecorder } from './apiserver/event-recorder.js';
import type { ObjectStore } from './apiserver/object-store.js';
import type { ResourceRegistry } from './apiserver/resource-registry.js';
import type { SubresourceRegistry } from './apiserver/subresources.js';

/** The parts of the server that an extension uses. */
export interface SandboxContext {
  store: ObjectStore;
  registry: ResourceRegistry;
  admission: AdmissionChain;
  subresources: SubresourceRegistry;
  clock: SandboxClock;
  events: EventRecorder;
}

/** Extends the bare API server with kinds, admission rules, controllers or subresources. */
export interface SandboxExtension {
  /** Called once before the server listens. The returned function is called when the sandbox closes. */
  install(context: SandboxContext): void | (() => void | Promise<void>);
}

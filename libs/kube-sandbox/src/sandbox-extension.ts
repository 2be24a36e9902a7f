import type { AdmissionChain } from './apiserver/admission.js';
import type { SandboxClock } from './apiserver/clock.js';
import type { EventRecorder } from './apiserver/event-recorder.js';
import type { ObjectStore } from './apiserver/object-store.js';
import type { ResourceRegistry } from './apiserver/resource-registry.js';
import type { SubresourceRegistry } from './apiserver/subresources.js';

/** What an extension builds on. */
export interface SandboxContext {
  store: ObjectStore;
  registry: ResourceRegistry;
  admission: AdmissionChain;
  subresources: SubresourceRegistry;
  clock: SandboxClock;
  events: EventRecorder;
}

/** Adds behavior to the bare API server: kinds, admission rules, controllers, subresources. */
export interface SandboxExtension {
  /** Called once, before the server listens. A returned function is called when the sandbox closes. */
  install(context: SandboxContext): void | (() => void | Promise<void>);
}

import {
  deepEqual,
  type KubeObject,
  type ObjectKey,
  type StoreEvent,
  type StoreListener,
  type SubscribeOptions,
} from '@headgate/kube-sandbox';
import { annotatedFaults } from '../inherited-faults.js';
import { RESOURCES } from '../resources.js';
import type { TimingName } from '../timings.js';
import type { SimulationContext } from '../simulation-context.js';
import { Delays } from './delays.js';
import { WorkQueue } from './work-queue.js';

/**
 * Watches a resource and reconciles its objects. Each reconciliation reads the current state and keeps none of its own,
 * so it may be repeated and may come late.
 */
export abstract class Controller<T extends KubeObject> {
  private readonly queue: WorkQueue;
  private readonly delays: Delays;
  private readonly subscriptions: (() => void)[] = [];

  constructor(
    protected readonly context: SimulationContext,
    protected readonly resource: string,
    /** The name of the controller in events. */
    private readonly component: string,
  ) {
    this.delays = new Delays(context.clock);
    this.queue = new WorkQueue(context.clock, (key) => this.look(key), context.reportError);
  }

  start(): void {
    this.watch<T>(this.resource, ({ object, type }) => {
      if (type === 'DELETED') this.delays.forget(object.metadata.uid!);
      this.enqueue(object.metadata);
    });
    this.watchRelated();
  }

  stop(): void {
    for (const unsubscribe of this.subscriptions) unsubscribe();
    this.queue.stop();
  }

  /** Reconciles all objects again, like the periodic resync of an informer. Without a lost change it has no effect. */
  resync(): void {
    for (const { metadata } of this.context.store.list(this.resource)) this.enqueue(metadata);
  }

  enqueue({ namespace = '', name }: ObjectKey): void {
    this.queue.add(`${namespace}/${name}`);
  }

  /** Other resources whose changes affect this one. */
  protected watchRelated(): void {}

  /** Reconciles one existing object. */
  protected abstract reconcile(object: T): void;

  /** Cleans up after a deleted object. */
  protected cleanUp(_key: ObjectKey): void {}

  /** Objects that are loaded at rest don't reach the listener: they need no work. */
  protected watch<U extends KubeObject>(resource: string, listener: (event: StoreEvent<U>) => void): void {
    this.listen(resource, listener as StoreListener, 'never');
  }

  /** Keeps an index of all objects; those loaded at rest are added when they are built. */
  protected index<U extends KubeObject>(resource: string, listener: (event: StoreEvent<U>) => void): void {
    this.listen(resource, listener as StoreListener, 'when-built');
  }

  private listen(resource: string, listener: StoreListener, atRest: SubscribeOptions['atRest']): void {
    this.subscriptions.push(this.context.store.subscribe(resource, listener, { atRest }));
  }

  /** Reconciles the controller of a changed object when that is of our kind. */
  protected watchOwned(resource: string, ownerKind: string): void {
    this.watch(resource, ({ object }) => {
      for (const owner of object.metadata.ownerReferences ?? []) {
        if (owner.kind === ownerKind) this.enqueue({ namespace: object.metadata.namespace, name: owner.name });
      }
    });
  }

  /** Reconciles an object whose faults were changed, by a test or in an annotation, and the objects created from it. */
  protected watchFaults(listener: (target: ObjectKey) => void): void {
    this.subscriptions.push(this.context.faults.onChange(listener));
    for (const resource of [RESOURCES.vm, RESOURCES.vmi, RESOURCES.dataVolume, RESOURCES.pod]) {
      this.watch(resource, ({ object, previous }) => {
        if (previous && !deepEqual(annotatedFaults(previous), annotatedFaults(object))) listener(object.metadata);
      });
    }
  }

  /** Whether the duration of a step has passed for this object. If not, the object is reconciled again once it has. */
  protected took({ metadata }: KubeObject, step: string, duration: TimingName | number): boolean {
    const ms = typeof duration === 'number' ? duration : this.context.timings.ms(duration);
    return this.delays.passed(metadata.uid!, step, ms, () => this.enqueue(metadata));
  }

  /** Whether this is the first time that the object reaches the step. */
  protected first({ metadata }: KubeObject, step: string): boolean {
    return this.delays.first(metadata.uid!, step);
  }

  protected restartStep({ metadata }: KubeObject, step: string): void {
    this.delays.reset(metadata.uid!, step);
  }

  protected enqueueAfter({ metadata }: KubeObject, ms: number): void {
    this.queue.addAfter(`${metadata.namespace ?? ''}/${metadata.name}`, ms);
  }

  protected change(object: T, change: (draft: T) => void): T {
    return this.context.store.patch<T>(this.resource, object.metadata, change);
  }

  protected recordEvent(
    about: KubeObject,
    reason: string,
    message: string,
    extra: { warning?: boolean; component?: string; host?: string } = {},
  ): void {
    this.context.events.record(about, {
      type: extra.warning ? 'Warning' : 'Normal',
      reason,
      message,
      component: extra.component ?? this.component,
      ...(extra.host ? { host: extra.host } : {}),
    });
  }

  private look(key: string): void {
    const slash = key.indexOf('/');
    const namespace = key.slice(0, slash) || undefined;
    const address = { namespace, name: key.slice(slash + 1) };
    const object = this.context.store.get<T>(this.resource, address);
    if (object) this.reconcile(object);
    else this.cleanUp(address);
  }
}

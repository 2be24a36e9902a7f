import type { SandboxClock } from '@headgate/kube-sandbox';
import type { LogLine } from './container-log.js';

type Listener = (line: LogLine) => void;

/** The output of the containers that run a simulated program, by the uid of their pod. */
export class ContainerOutput {
  private readonly outputs = new Map<string, LogLine[]>();
  private readonly listeners = new Map<string, Set<Listener>>();
  private lines = 0;

  constructor(private readonly clock: SandboxClock) {}

  of(uid: string): readonly LogLine[] {
    return this.outputs.get(uid) ?? [];
  }

  /** Times have nanoseconds, and no two lines have the same, as in the logs of containerd. */
  append(uid: string, line: string): void {
    const nanoseconds = String(this.lines++ % 1_000_000).padStart(6, '0');
    const entry = { time: new Date(this.clock.now()).toISOString().replace('Z', `${nanoseconds}Z`), line };
    this.outputs.set(uid, [...this.of(uid), entry]);
    for (const listener of this.listeners.get(uid) ?? []) listener(entry);
  }

  follow(uid: string, listener: Listener): () => void {
    const listeners = this.listeners.get(uid) ?? new Set();
    this.listeners.set(uid, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.listeners.get(uid) === listeners) this.listeners.delete(uid);
    };
  }

  forget(uid: string): void {
    this.outputs.delete(uid);
  }
}

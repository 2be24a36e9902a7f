import { EventEmitter, once } from 'node:events';
import { Injectable } from '@nestjs/common';

/** Wakes up waiting syncs when there may be something new. */
@Injectable()
export class Changes {
  private readonly emitter = new EventEmitter<{ change: [] }>().setMaxListeners(0);

  announce(): void {
    this.emitter.emit('change');
  }

  /** Resolves at the next change; false when the signal came first. */
  next(signal: AbortSignal): Promise<boolean> {
    return once(this.emitter, 'change', { signal }).then(
      () => true,
      () => false,
    );
  }
}

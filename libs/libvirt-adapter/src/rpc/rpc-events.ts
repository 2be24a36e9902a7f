import {
  closeConnection,
  LifecycleEvent,
  subscribeToEvents,
  type DomainEventMessage,
  type RpcConnection,
} from '@headgate/libvirt-rpc';
import { messageOf, DomainError } from '@headgate/domain-contracts';
import type { DomainEvent, EventListener, EventSubscription } from '../connection/domain-events.js';
import { describeMessage } from '../connection/describe-event.js';
import type { RpcLink } from './rpc-link.js';

/** Events over a connection of their own, so that no long call delays them. Its keepalives detect a hanging daemon. */
export class RpcEvents implements EventSubscription {
  readonly isConfirmed = true;
  private isStopped = false;

  private constructor(private readonly connection: RpcConnection) {}

  static async open(link: RpcLink, listener: EventListener): Promise<RpcEvents> {
    const connection = await link.open();
    const events = new RpcEvents(connection);
    try {
      await subscribeToEvents(connection, (message) => {
        if (!events.isStopped) listener.event(toDomainEvent(message));
      });
    } catch (error) {
      await closeConnection(connection);
      throw link.translate(error);
    }
    connection.onClose((error) => {
      if (events.isStopped) return;
      events.isStopped = true;
      const translated = link.translate(error);
      listener.ended(
        translated instanceof DomainError ? translated : new DomainError('BACKEND_FAILED', messageOf(translated)),
      );
    });
    return events;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await closeConnection(this.connection);
  }
}

const toDomainEvent = (message: DomainEventMessage): DomainEvent => ({
  kind: message.name,
  domain: message.domain.name,
  ...describeMessage(message),
  isStart: message.name === 'lifecycle' && message.event === LifecycleEvent.started,
});

import { sharedData } from '@headgate/access';
import type { CapabilitiesView } from '@headgate/api-contracts';
import type { Caller } from '@headgate/domain-contracts';
import type { ContextState, FleetReader } from '@headgate/fleet';
import { presentState } from '../../fleet/present-state.js';
import type { PolledValue } from './polled-value.js';
import { Topic, type FollowedTopic, type TopicChange } from './topic.js';
import { eventText } from '../../platform/event-text.js';

/**
 * The contexts: `status` of each, immediately when it changes, and `snapshot` with the capabilities whenever they are
 * different.
 */
export class ContextsTopic extends Topic {
  override readonly name = 'contexts';
  override readonly need = sharedData;
  override readonly isCostly = true;

  constructor(
    private readonly fleet: FleetReader,
    private readonly capabilities: PolledValue<CapabilitiesView>,
  ) {
    super();
  }

  override follow(_reader: Caller | undefined, publish: (change: TopicChange) => void): FollowedTopic {
    const topic = this.name;
    const send = (state: ContextState): void =>
      publish({ topic, key: `status ${state.context}`, event: 'status', data: () => presentState(state) });
    for (const state of this.fleet.states()) send(state);
    const closeFleet = this.fleet.subscribe((change) => {
      if (change.type === 'status') send(change.state);
    });
    const closeCapabilities = this.capabilities.subscribe((value) =>
      publish({ topic, key: 'capabilities', event: 'snapshot', data: () => value }),
    );
    return {
      snapshot: () => {
        const { value } = this.capabilities;
        const states = this.fleet.states().map((state) => eventText('contexts.status', presentState(state)));
        const text = [...states, ...(value ? [eventText('contexts.snapshot', value)] : [])].join('');
        return text === '' ? [] : [Buffer.from(text)];
      },
      close: () => {
        closeFleet();
        closeCapabilities();
      },
    };
  }
}

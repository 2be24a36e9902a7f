import { messageOf, type Clock, type ConsoleStream } from '@headgate/domain-contracts';
import { Flow } from './flow.js';
import { forwardInput } from './forward-input.js';
import { RfbClientFilter } from './rfb/client-filter.js';
import { CLOSE_CODES, closeReason, type Viewer } from './viewer.js';

/** Connects one viewer to a stream of its own of a graphical console. */
export function connectDirectly(viewer: Viewer, stream: ConsoleStream, clock: Clock): void {
  const filter = new RfbClientFilter(viewer.viewOnly);
  const flow = new Flow(clock, stream);
  flow.add(viewer);
  stream.on('data', (data: Buffer) => flow.send(data));
  stream.on('error', () => undefined);
  stream.once('end', () => stream.destroy());
  stream.once('close', () => viewer.close(CLOSE_CODES.ended, 'The console has ended.'));
  viewer.onClose(() => {
    flow.remove(viewer);
    stream.destroy();
  });
  viewer.onInput((data) => {
    try {
      const allowed = filter.pass(data);
      if (allowed.length > 0) forwardInput(viewer, allowed, stream);
    } catch (error) {
      viewer.close(CLOSE_CODES.protocol, closeReason(messageOf(error)));
      stream.destroy();
    }
  });
}

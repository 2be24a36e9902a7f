import { messageOf, type Clock, type ConsoleStream } from '@headgate/domain-contracts';
import { Flow } from './flow.js';
import { RfbClientFilter } from './rfb/client-filter.js';
import { takeInput } from './take-input.js';
import { CLOSE, closeReason, type Viewer } from './viewer.js';

/** One viewer on his own stream of a graphical console that serves many. */
export function joinVnc(viewer: Viewer, stream: ConsoleStream, clock: Clock): void {
  const filter = new RfbClientFilter(viewer.viewOnly);
  const flow = new Flow(clock, stream);
  flow.add(viewer);
  stream.on('data', (data: Buffer) => flow.send(data));
  stream.on('error', () => undefined);
  stream.once('end', () => stream.destroy());
  stream.once('close', () => viewer.close(CLOSE.ended, 'The console has ended.'));
  viewer.onClose(() => {
    flow.remove(viewer);
    stream.destroy();
  });
  viewer.onInput((data) => {
    try {
      const passed = filter.pass(data);
      if (passed.length > 0) takeInput(viewer, passed, stream);
    } catch (error) {
      viewer.close(CLOSE.protocol, closeReason(messageOf(error)));
      stream.destroy();
    }
  });
}

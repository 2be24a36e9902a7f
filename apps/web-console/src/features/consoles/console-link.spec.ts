import { IDLE_LINK, linkReducer, retryDelay, type LinkEvent, type LinkState } from './console-link.js';

const after = (events: readonly LinkEvent[], from: LinkState = IDLE_LINK): LinkState =>
  events.reduce(linkReducer, from);
const runs: LinkEvent = { type: 'guest', running: true };
const stops: LinkEvent = { type: 'guest', running: false };
const open: LinkEvent = { type: 'open' };
const closed: LinkEvent = { type: 'closed', reason: 'gone' };
const reconnect: LinkEvent = { type: 'reconnect' };

describe('the link of a console', () => {
  test('comes by itself when the guest runs', () => {
    expect(after([runs])).toEqual({ phase: 'connecting', generation: 1, breaks: 0 });
    expect(after([runs, open]).phase).toBe('connected');
  });

  test('waits when the guest stops, and calls nobody', () => {
    const stopped = after([runs, open, closed, stops]);
    expect(stopped.phase).toBe('waiting');
    expect(retryDelay(stopped)).toBeUndefined();
    expect(linkReducer(stopped, reconnect)).toBe(stopped);
  });

  test('comes back when the guest starts again', () => {
    expect(after([runs, open, stops, runs])).toEqual({ phase: 'connecting', generation: 2, breaks: 0 });
  });

  test('tries for a minute with growing pauses, then waits for a person', () => {
    const delays: (number | undefined)[] = [];
    let link = after([runs, open]);
    for (let round = 0; round < 8; round++) {
      link = linkReducer(link, closed);
      delays.push(retryDelay(link));
      link = linkReducer(link, reconnect);
    }
    expect(delays).toEqual([1000, 2000, 4000, 8000, 15000, 15000, 15000, undefined]);
    const asked = after(
      [{ type: 'reconnect', asked: true }, closed],
      after([closed, reconnect, closed], after([runs])),
    );
    expect(retryDelay(asked)).toBe(1000);
  });

  test('begins to count anew after a connection that was good', () => {
    const flapping = after([closed, reconnect, open, closed, reconnect, open], after([runs, open]));
    expect(linkReducer(flapping, closed).breaks).toBe(3);
    expect(linkReducer(flapping, { type: 'closed', lasted: true }).breaks).toBe(1);
  });

  test('does not come back by itself to what ended', () => {
    const ended = after([runs, open, { type: 'closed', ended: true }]);
    expect(retryDelay(ended)).toBeUndefined();
    expect(linkReducer(ended, { type: 'reconnect', asked: true })).toMatchObject({
      phase: 'connecting',
      generation: 2,
    });
  });

  test('hears a break only once', () => {
    const broken = after([runs, open, closed]);
    expect(linkReducer(broken, { type: 'closed' })).toBe(broken);
    expect(broken.reason).toBe('gone');
  });
});

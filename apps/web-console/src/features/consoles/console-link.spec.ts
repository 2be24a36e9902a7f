import { IDLE_LINK, linkReducer, retryDelay, type LinkEvent, type LinkState } from './console-link.js';

const after = (events: readonly LinkEvent[], from: LinkState = IDLE_LINK): LinkState =>
  events.reduce(linkReducer, from);
const runs: LinkEvent = { type: 'guest', running: true };
const stops: LinkEvent = { type: 'guest', running: false };
const open: LinkEvent = { type: 'open' };
const closed: LinkEvent = { type: 'closed', reason: 'gone' };
const reconnect: LinkEvent = { type: 'reconnect' };

describe('the connection of a console', () => {
  test('connects automatically when the guest runs', () => {
    expect(after([runs])).toEqual({ phase: 'connecting', attempt: 1, failures: 0 });
    expect(after([runs, open]).phase).toBe('connected');
  });

  test('waits while the guest is stopped', () => {
    const stopped = after([runs, open, closed, stops]);
    expect(stopped.phase).toBe('waiting');
    expect(retryDelay(stopped)).toBeUndefined();
    expect(linkReducer(stopped, reconnect)).toBe(stopped);
  });

  test('reconnects when the guest starts again', () => {
    expect(after([runs, open, stops, runs])).toEqual({ phase: 'connecting', attempt: 2, failures: 0 });
  });

  test('retries for a minute with growing delays, then waits for the user', () => {
    const delays: (number | undefined)[] = [];
    let link = after([runs, open]);
    for (let round = 0; round < 8; round++) {
      link = linkReducer(link, closed);
      delays.push(retryDelay(link));
      link = linkReducer(link, reconnect);
    }
    expect(delays).toEqual([1000, 2000, 4000, 8000, 15000, 15000, 15000, undefined]);
    const retried = after(
      [{ type: 'reconnect', isManual: true }, closed],
      after([closed, reconnect, closed], after([runs])),
    );
    expect(retryDelay(retried)).toBe(1000);
  });

  test('resets the failures after a stable connection', () => {
    const flapping = after([closed, reconnect, open, closed, reconnect, open], after([runs, open]));
    expect(linkReducer(flapping, closed).failures).toBe(3);
    expect(linkReducer(flapping, { type: 'closed', wasStable: true }).failures).toBe(1);
  });

  test('does not reconnect automatically to a console that ended', () => {
    const ended = after([runs, open, { type: 'closed', ended: true }]);
    expect(retryDelay(ended)).toBeUndefined();
    expect(linkReducer(ended, { type: 'reconnect', isManual: true })).toMatchObject({
      phase: 'connecting',
      attempt: 2,
    });
  });

  test('counts a failure only once', () => {
    const broken = after([runs, open, closed]);
    expect(linkReducer(broken, { type: 'closed' })).toBe(broken);
    expect(broken.reason).toBe('gone');
  });
});

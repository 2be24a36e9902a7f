import { withoutOverlap } from './serial-log.js';

describe('withoutOverlap', () => {
  test.each([
    ['boot login: ', '', 'boot login: '],
    ['boot login: ', 'login: ', 'boot '],
    ['boot login: ', 'login: root', 'boot '],
    ['boot login: ', 'root', 'boot login: '],
    ['boot lo', 'login: ', 'boot '],
    ['', 'login: ', ''],
  ])('given the log %j and the delivered bytes %j, keeps %j', (log, delivered, rest) => {
    expect(withoutOverlap(Buffer.from(log), Buffer.from(delivered)).toString()).toBe(rest);
  });
});

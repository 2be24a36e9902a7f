import { FixedClock } from '@headgate/testing';
import { __Name__ } from './__name__.js';

describe('__Name__', () => {
  test('reads the injected clock, never the wall clock', () => {
    expect(new __Name__(new FixedClock(5)).now()).toBe(5);
  });
});

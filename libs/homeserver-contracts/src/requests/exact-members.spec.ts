import { exactMembers } from './exact-members.js';

describe('exactMembers', () => {
  test.each([['Pdus'], ['PDUS'], ['pdu\u017f'], ['\u212aind'], ['pu\u017fh\u212aey']])('refuses %s', (member) => {
    expect(() => exactMembers({ [member]: 1 }, ['pdus', 'kind', 'pushkey'])).toThrow(
      expect.objectContaining({ status: 400, errcode: 'M_BAD_JSON' }),
    );
  });

  test('accepts the exact names, and other members', () => {
    expect(() => exactMembers({ pdus: [], Edus: [], kinds: 1 }, ['pdus', 'kind'])).not.toThrow();
  });
});

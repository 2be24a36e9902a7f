import { BadFilter, decisionFilter } from './decision-filter.js';
import { decisionOf } from './lapi-decision.js';

const decisions = [
  ['logins', '192.0.2.1'],
  ['logins', '2001:db8:1:2::/64'],
  ['mails', '198.51.100.7'],
].map(([rule = '', value = ''], id) =>
  decisionOf({ id, rule, value, startedMs: 0, untilMs: 60_000, position: 1 }, 'homeserver-limits-0a', 0),
);

describe('the filter of a bouncer', () => {
  const found = (query: Record<string, unknown>, isLenient = false) =>
    decisions.filter(decisionFilter(query, { isLenient })).map(({ id }) => id);

  test.each([
    [{}, [0, 1, 2]],
    [{ ip: '192.0.2.1' }, [0]],
    [{ ip: '::ffff:192.0.2.1' }, [0]],
    [{ ip: '2001:db8:1:2:3::4' }, [1]],
    [{ ip: '2001:db8:1:3::1' }, []],
    [{ range: '192.0.2.0/24' }, []],
    [{ range: '192.0.2.0/24', contains: 'false' }, [0]],
    [{ range: '0.0.0.0/0', contains: 'false' }, [0, 2]],
    [{ range: '2001:db8:1:2:8000::/65' }, [1]],
    [{ scope: 'ip', value: '192.0.2.1' }, [0]],
    [{ scope: 'range' }, [1]],
    [{ scopes: 'ip, range' }, [0, 1, 2]],
    [{ scopes: 'country' }, []],
    [{ type: 'ban' }, [0, 1, 2]],
    [{ type: 'captcha' }, []],
    [{ origins: 'cscli,homeserver-limits-0a' }, [0, 1, 2]],
    [{ origins: 'cscli' }, []],
    [{ scenarios_containing: 'mail,nothing' }, [2]],
    [{ scenarios_not_containing: 'mail' }, [0, 1]],
    [{ ip: '' }, [0, 1, 2]],
  ])('%j selects %j', (query, ids) => expect(found(query)).toEqual(ids));

  test.each([
    [{ ip: 'junk' }, 'ip: "junk" is no address'],
    [{ ip: '1.2.3.4/8' }, 'is no address'],
    [{ range: '192.0.2.0/33' }, 'is no network such as 192.0.2.0/24'],
    [{ range: `1\n${'a'.repeat(100)}` }, /^range: "1\?a{58}" is no network/],
    [{ type: ['ban', 'captcha'] }, 'type must be given once'],
    [{ until: '1h' }, "'until' is no filter; use one of ip, range"],
    [{ constructor: 'x' }, "'constructor' is no filter"],
  ])('%j is refused, so that no more is banned than the bouncer asked for', (query, message) => {
    expect(() => found(query)).toThrow(BadFilter);
    expect(() => found(query)).toThrow(message);
  });

  test('ignores unknown parameters of a stream, which newer bouncers send', () => {
    expect(found({ community_pull: 'true', scopes: 'ip' }, true)).toEqual([0, 2]);
  });
});

import { CONTRACT_RULES } from '@headgate/limit-rules';
import { parseConfig } from './config.js';

const rule = (toml: string) =>
  `[[rules]]\nname = "mine"\non = ["message"]\nby = "user"\nlimit = 5\nwindow = "1m"\n${toml}`;
const problemsOf = (toml: string): readonly string[] => {
  try {
    parseConfig(toml);
    return [];
  } catch (error) {
    return (error as { problems: readonly string[] }).problems;
  }
};

describe('The rules of a configuration', () => {
  test('are those of the contract by default', () => {
    expect(parseConfig('').rules).toEqual({
      rules: CONTRACT_RULES,
      exempt: { users: [], appservices: [], networks: [] },
    });
  });

  test('take the settings of [ratelimit] for the rates of the contract', () => {
    const { rules } = parseConfig(
      '[ratelimit]\nrings_per_minute = 3\nlogin_success_clears_source = false\nshadow = ["register"]',
    ).rules;
    const named = Object.fromEntries(rules.map((one) => [one.name, one]));
    expect(named.ring).toMatchObject({ limit: 3 });
    expect(named.login_source).toMatchObject({ successClears: false });
    expect(named.login_account).toMatchObject({ successClears: true });
    expect(rules.filter(({ shadow }) => shadow).map(({ name }) => name)).toEqual(['register']);
  });

  test('add rules with all of their settings', () => {
    const toml = `
[[rules]]
name = "invites"
on = ["invite", "create_room"]
by = "user"
limit = 100
window = "400d"
algorithm = "gcra"
costs = { create_room = 10 }
shadow = true
exempt_users = ["@admin:b.example"]
exempt_appservices = ["irc"]
exempt_networks = ["10.0.0.0/8", "2001:db8::1"]
[rules.block]
after = 3
within = "10m"
for = "5m"
max = "1h"
forget = "2d"

[exemptions]
users = ["@root:b.example"]
networks = ["127.0.0.1"]`;
    const { rules, exempt } = parseConfig(toml).rules;
    expect(rules).toHaveLength(7);
    expect(rules.at(-1)).toEqual({
      name: 'invites',
      on: ['invite', 'create_room'],
      by: 'user',
      limit: 100,
      windowMs: 400 * 86_400_000,
      algorithm: 'gcra',
      counts: 'every',
      successClears: true,
      unit: 'requests',
      costs: { create_room: 10 },
      shadow: true,
      block: { after: 3, withinMs: 600_000, forMs: 300_000, maxMs: 3_600_000, forgetMs: 172_800_000 },
      exempt: { users: ['@admin:b.example'], appservices: ['irc'], networks: ['10.0.0.0/8', '2001:db8::1'] },
    });
    expect(exempt).toEqual({ users: ['@root:b.example'], appservices: [], networks: ['127.0.0.1'] });
  });

  test('count failed proofs of a stage, and the bytes of downloads', () => {
    const { rules } = parseConfig(rule('').replace('message', 'interactive_auth')).rules;
    expect(rules.at(-1)).toMatchObject({ counts: 'failures' });
    const volume = parseConfig(rule('unit = "bytes"').replace('"message"', '"upload", "download"')).rules.rules;
    expect(volume.at(-1)).toMatchObject({ unit: 'bytes', counts: 'every' });
  });

  test('let the bounds on requests in progress report only', () => {
    expect(() => parseConfig('[ratelimit]\nshadow = ["concurrent_requests", "concurrent_polls"]')).not.toThrow();
  });

  test('count claimed origins only once they are authenticated', () => {
    const { rules } = parseConfig(rule('').replace('message', 'federation').replace('"user"', '"origin"')).rules;
    expect(rules.at(-1)).toMatchObject({ counts: 'authenticated' });
  });

  test.each([
    [rule('limits = 1'), 'rules.mine.limits is not a known key'],
    [rule('shadow = 1'), 'rules.mine.shadow must be true or false'],
    [rule('costs = { invite = 2 }'), 'rules.mine.costs names invite, which is not in rules.mine.on'],
    [rule('costs = { message = 0 }'), 'rules.mine.costs must be a table of costs from 1'],
    [rule('unit = "bytes"'), 'rules.mine.unit = "bytes" is for upload and download only'],
    [rule('counts = "failures"'), 'rules.mine.counts = "failures" is for login, interactive_auth and auth_login only'],
    [rule('counts = "authenticated"\ncosts = { message = 2 }'), 'rules.mine.counts must be "every"'],
    [rule('').replace('"user"', '"recipient"'), 'rules.mine.by must be one of source, server, user, room for message'],
    [
      rule('').replace('message', 'request_token'),
      'rules.mine.by must be one of source, server, recipient for request_token',
    ],
    [
      rule('block = {}').replace('message', 'request_token').replace('"user"', '"recipient"'),
      'rules.mine.block is not for a rule by recipient',
    ],
    [
      rule('').replace('message', 'guest_registration'),
      'rules.mine.by must be one of source, server for guest_registration',
    ],
    [rule('block = 5'), 'rules.mine.block must be a section'],
    [rule('block = { for = "2d" }'), 'rules.mine.block.for must not be longer than rules.mine.block.max'],
    [
      rule('block = {}').replace('by = "user"', 'by = "room"'),
      'rules.mine.block is not for a rule by room: a stranger could have all others blocked',
    ],
    [rule('block = { after = 0 }'), 'rules.mine.block.after must be at least 1'],
    [rule('exempt_users = ["admin"]'), 'each of rules.mine.exempt_users must be a user ID'],
    [rule('exempt_networks = ["10.0.0.0/40"]'), 'rules.mine.exempt_networks must be an address or CIDR'],
    [rule('').replace('"1m"', '"401d"'), 'rules.mine.window must be a duration such as'],
    [rule('').replace('"1m"', '60'), 'rules.mine.window must be a duration such as'],
    [rule('').replace('window = "1m"', ''), 'rules.mine.window is missing'],
    [rule('').replace('limit = 5', ''), 'rules.mine.limit is missing'],
    [rule('').replace('5', '2000000'), 'rules.mine.limit must be at most 1000000'],
    [
      rule('algorithm = "gcra"').replace('"1m"', '"1ms"').replace('5', '500'),
      'rules.mine.window is too short for a gcra rule',
    ],
    [rule('').replace('"message"', ''), 'rules.mine.on must name at least one of login, registration'],
    [rule('').replace('"user"', '"origin"'), 'rules.mine.by must be one of source, server, user, room for message'],
    [rule('').replace('mine', 'Mine!'), 'rules.Mine!.name must be 1 to 40 of a-z, 0-9 and _'],
    [rule('').replace('mine', 'ring'), 'rules has two rules named ring'],
    [`${rule('')}\n${rule('')}`, 'rules has two rules named mine'],
    ['rules = 5', 'rules must be an array of tables'],
    ['rates = 5', 'rates must be a section'],
    ['[rates.login]\nlimit = 5', '[rates.login] is not a known rate; the rates are login_account'],
    ['[rates.ring]\nlimit = 0', 'rates.ring.limit must be at least 1'],
    ['[rates.ring]\nby = "account"', 'rates.ring.by must be one of source, server, user, room for ring'],
    [
      '[rates.ring]\nlimit = 5\n[ratelimit]\nrings_per_minute = 5',
      'ratelimit.rings_per_minute and rates.ring.limit set the same',
    ],
    ['[ratelimit]\nshadow = ["rings"]', 'each of ratelimit.shadow must be one of login_account'],
    ['[exemptions]\nusers = ["admin"]', 'each of exemptions.users must be a user ID'],
    ['[exemptions]\naddresses = ["10.0.0.1"]', 'exemptions.addresses is not a known key'],
    [
      Array.from({ length: 35 }, (_, n) => rule('').replace('mine', `mine${n}`)).join('\n'),
      'rules has more than 34 rules',
    ],
  ])('refuses %j', (toml, problem) => {
    expect(problemsOf(toml).some((one) => one.includes(problem))).toBe(true);
  });

  test('report the problems of all rules and sections together', () => {
    const toml = `[limits]\npushers_per_user = 0\n[rates.ring]\nlimit = 0\n${rule('shadow = 1')}\n[exemptions]\nusers = ["x"]`;
    expect(problemsOf(toml)).toHaveLength(4);
  });

  test('accept a shadow rate that is a rule of the configuration', () => {
    expect(parseConfig(`[ratelimit]\nshadow = ["mine"]\n${rule('')}`).rules.rules.at(-1)).toMatchObject({
      shadow: true,
    });
  });
});

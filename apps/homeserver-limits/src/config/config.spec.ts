import { CapLedger, MemoryRateLimiter } from '@headgate/limits-core';
import { Caps } from '../rules/caps.js';
import { Rules } from '../rules/rules.js';
import { parseConfig } from './config.js';
import { LiveConfig } from './live-config.js';

describe('parseConfig', () => {
  const GATEWAY = '[gateway]\nupstream = "http://127.0.0.1:8008"\n';

  test.each([
    ['0', 'server.workers must be at least 1'],
    ['-1', 'server.workers must be at least 1'],
    ['1000', 'server.workers must be at most 64'],
    ['1.5', 'server.workers must be an integer'],
    ['"4"', 'server.workers must be an integer'],
  ])('refuses %s workers', (workers, problem) => {
    expect(() => parseConfig(`[server]\nworkers = ${workers}\n${GATEWAY}`)).toThrow(problem);
  });

  test.each([
    ['name = "a"', 'deny.a must have either file or crowdsec'],
    [
      'name = "a"\nfile = "f"\ncrowdsec = "http://127.0.0.1:8080"\nkey_file = "k"',
      'deny.a must have either file or crowdsec',
    ],
    ['name = "a"\ncrowdsec = "http://127.0.0.1:8080"', 'deny.a must have key_file with crowdsec, and only with it'],
    ['name = "a"\nfile = "f"\ninterval = "2h"', 'deny.a.interval must be at most 1h'],
    ['name = "a"\nfile = "f"\nkey_file = "k"', 'deny.a must have key_file with crowdsec, and only with it'],
    ['name = "A"\nfile = "f"', 'name must be 1 to 40 of a-z, 0-9 and _, beginning with a letter'],
    ['name = "a"\nfile = "f"\n[[deny]]\nname = "a"\nfile = "g"', 'deny has two lists named a'],
    ['name = "a"\nfile = "f"\nmore = 1', 'more'],
  ])('refuses a deny list with %j', (text, problem) => {
    expect(() => parseConfig(`[[deny]]\n${text}\n`)).toThrow(problem);
  });

  test('refuses workers that share too little memory for bodies, and those of an embedded homeserver', () => {
    expect(() => parseConfig(`[server]\nworkers = 5\n${GATEWAY}`)).toThrow(
      'server.body_memory_mib: 64 is too little for 5 workers, which share it; use at least 80',
    );
    expect(parseConfig(`[server]\nworkers = 4\n${GATEWAY}`).server.workers).toBe(4);
    expect(() => parseConfig('[server]\nworkers = 2\n')).toThrow(
      'server.workers is for gateways: gateway.upstream is not set',
    );
  });

  test('defaults to the numbers of the contract', () => {
    const config = parseConfig('');
    expect(config.ratelimit).toMatchObject({ enabled: true, rings_per_minute: 10 });
    expect(config.limits).toEqual({
      filters_per_user: 1000,
      account_data_per_user: 20000,
      one_time_keys_per_device: 1000,
      pushers_per_user: 100,
    });
    expect(config.delayed_events).toEqual({ max_per_room: 100, max_delay_ms: 86_400_000 });
    expect(config.server.listen).toBe('127.0.0.1:8008');
    expect(config.gateway.upstream).toBeUndefined();
    expect(config.gateway.relay).toBe(true);
  });

  test.each([
    ['limits', 'filters_per_user'],
    ['limits', 'account_data_per_user'],
    ['limits', 'one_time_keys_per_device'],
    ['limits', 'pushers_per_user'],
    ['server', 'concurrent_requests_per_source'],
    ['server', 'concurrent_polls_per_source'],
    ['delayed_events', 'max_per_room'],
    ['delayed_events', 'max_delay_ms'],
    ['ratelimit', 'rings_per_minute'],
  ])('refuses a %s.%s of zero by name', (section, key) => {
    expect(() => parseConfig(`[${section}]\n${key} = 0`)).toThrow(`${section}.${key} must be at least 1`);
    expect(() => parseConfig(`[${section}]\n${key} = -5`)).toThrow(`${section}.${key} must be at least 1`);
    expect(() => parseConfig(`[${section}]\n${key} = 1.5`)).toThrow(`${section}.${key} must be an integer`);
    expect(() => parseConfig(`[${section}]\n${key} = "9"`)).toThrow(`${section}.${key} must be an integer`);
  });

  test.each([
    ['ratelimit', 'rings_per_minute', 1_000_000],
    ['limits', 'filters_per_user', 1_000_000_000],
    ['limits', 'account_data_per_user', 1_000_000_000],
    ['limits', 'one_time_keys_per_device', 1_000_000_000],
    ['limits', 'pushers_per_user', 1_000_000_000],
    ['delayed_events', 'max_per_room', 1_000_000_000],
    ['delayed_events', 'max_delay_ms', 31_622_400_000],
    ['gateway', 'timeout_ms', 86_400_000],
    ['gateway', 'whoami_ttl_ms', 86_400_000],
    ['gateway', 'reconcile_ms', 604_800_000],
  ])('accepts a %s.%s of at most %i', (section, key, max) => {
    expect(() => parseConfig(`[${section}]\n${key} = ${max}`)).not.toThrow();
    expect(() => parseConfig(`[${section}]\n${key} = ${max + 1}`)).toThrow(`${section}.${key} must be at most ${max}`);
    expect(() => parseConfig(`[${section}]\n${key} = 9e15`)).toThrow(`${section}.${key} must be at most ${max}`);
  });

  test('defines every rate and cap with the largest settings that it accepts', () => {
    const config = parseConfig(
      '[ratelimit]\nrings_per_minute = 1000000\n[limits]\nfilters_per_user = 1000000000\npushers_per_user = 1000000000\n' +
        'account_data_per_user = 1000000000\none_time_keys_per_device = 1000000000\n[delayed_events]\nmax_per_room = 1000000000\n',
    );
    const listener = { onGranted: () => undefined, onRefused: () => undefined };
    expect(() => new Rules(new MemoryRateLimiter(), new LiveConfig(config), listener)).not.toThrow();
    expect(() => new Caps(new CapLedger(), new LiveConfig(config), { maxAgeMs: 0, maxRefusalAgeMs: 0 })).not.toThrow();
  });

  test('reports the problems of all sections together, each with its key', () => {
    const toml =
      '[limit]\na = 1\n[limits]\npushers_per_user = 0\n[ratelimit]\nenabled = 1\n[rtc]\nurl = "wss://x.example"\n';
    expect(() => parseConfig(toml)).toThrow(
      expect.objectContaining({
        problems: [
          '[limit] is not a known section',
          'ratelimit.enabled must be true or false',
          'limits.pushers_per_user must be at least 1',
        ],
      }),
    );
  });

  test.each([
    ['[limits]\npusher_per_user = 5', 'limits.pusher_per_user is not a known key'],
    ['[limit]\npushers_per_user = 5', '[limit] is not a known section'],
    ['limits = 5', 'limits must be a section'],
    ['[ratelimit]\nenabled = "yes"', 'ratelimit.enabled must be true or false'],
    ['[server]\nname = "a b"', 'server.name must be a server name'],
    ['[server]\nlisten = "8008"', 'server.listen must be HOST:PORT'],
    ['[server]\ntrusted_proxies = ["10.0.0.0/40"]', 'server.trusted_proxies must be an address or CIDR'],
    ['[server]\nipv6_prefix = 128', 'server.ipv6_prefix must be one of 64, 56, 48'],
    ['[server]\nregistration_tokens = ["a b"]', 'server.registration_tokens must be 1 to 64 of'],
    ['[server]\nregistration_tokens = "ab"', 'server.registration_tokens must be an array'],
    ['[gateway]\nupstream = "ftp://x"', 'gateway.upstream must be an http or https URL'],
    ['[gateway]\nupstream = "http://x/matrix"', 'gateway.upstream must be an http or https URL of a host and a port'],
    [
      '[gateway]\nupstream = "http://me:secret@x"',
      'gateway.upstream must be an http or https URL of a host and a port',
    ],
    ['[gateway]\nrelay = "off"', 'gateway.relay must be true or false'],
    ['[gateway]\nupstream = "http://x"\nca_file = "ca.pem"', 'gateway.ca_file is for an https upstream'],
    ['[rtc]\nurl = "wss://sfu.example"', 'belong together'],
    ['[federation.peers]\n"a.example" = "nowhere"', 'federation.peers must be a table'],
    ['[operator]\nlisten = "0.0.0.0:9000"', 'operator.token is needed'],
    [
      '[operator]\ntoken = " operator-token-0123 "',
      'operator.token must be at least 16 characters, all of them visible ASCII',
    ],
    [
      '[operator]\ntoken = "operator token 0123"',
      'operator.token must be at least 16 characters, all of them visible ASCII',
    ],
    [
      '[operator]\ntoken = "operator-töken-0123"',
      'operator.token must be at least 16 characters, all of them visible ASCII',
    ],
    ['[operator]\ntoken = "short"', 'operator.token must be at least 16 characters, all of them visible ASCII'],
    ['[operator.tokens]\nalice = "short"', 'operator.tokens must be a table of names'],
    ['[operator.tokens]\n"a b" = "operator-token-0123"', 'operator.tokens must be a table of names'],
    ['[operator]\ntokens = ["operator-token-0123"]', 'operator.tokens must be a table of names'],
    [
      '[operator.tokens]\nalice = "operator-token-0123"\nbob = "operator-token-0123"',
      'operator.tokens must be a table of names',
    ],
    [
      '[operator]\ntoken = "operator-token-0123"\n[operator.tokens]\nalice = "operator-token-0123"',
      'operator.token is also one of operator.tokens',
    ],
    [
      '[operator]\ntoken = "operator-token-0123"\n[operator.tokens]\noperator = "operator-token-4567"',
      'operator.tokens.operator is the name of operator.token',
    ],
    ['[shared]\nurl = "http://x"', 'shared.url must be redis://'],
    ['[shared]\nurl = "redis://x/db"', 'shared.url must be redis://'],
    ['[shared]\npassword_file = "secret"', 'shared.sentinel is needed for shared.password_file'],
    ['[shared]\nsecret_file = "secret"', 'shared.sentinel is needed for shared.secret_file'],
    [
      '[shared]\nurl = "redis://x"\ncluster = ["redis://y"]',
      'only one of shared.url, shared.cluster and shared.sentinel',
    ],
    ['[shared]\ncluster = []', 'shared.cluster must have the URL of at least one node'],
    ['[shared]\ncluster = ["redis://x", "y"]', 'each of shared.cluster must be redis://'],
    ['[shared]\ncluster = ["redis://x", "rediss://y"]', 'shared.cluster mixes redis:// and rediss://'],
    ['[shared]\ncluster = ["redis://x/1"]', 'shared.cluster must not name a database'],
    ['[shared]\ncluster = ["redis://:a@x"]\npassword_file = "b"', 'shared.cluster and shared.password_file both'],
    ['[shared]\nurl = "redis://me@x"\nusername = "me"', 'shared.url and shared.username both have a user'],
    ['[shared]\nsentinel = "redis://x"', 'shared.sentinel must be { name ='],
    ['[shared]\nsentinel = { name = "", nodes = ["redis://x"] }', 'shared.sentinel must be { name ='],
    ['[shared]\nsentinel = { name = "a", nodes = ["x"] }', 'shared.sentinel must be { name ='],
    ['[shared]\nsentinel = { name = "a", nodes = [], quorum = 1 }', 'shared.sentinel must be { name ='],
    ['[shared]\nsentinel = { name = "a", nodes = [] }', 'shared.sentinel.nodes must have the URL of at least one'],
    ['[shared]\nurl = "redis://:a@x"\npassword_file = "b"', 'both have a password'],
    ['[shared]\nurl = "redis://x"\nca_file = "ca.pem"', 'shared.ca_file is for rediss:// URLs'],
    ['[shared]\nurl = "redis://x"\nprefix = "{a}"', 'shared.prefix must be 1 to 64 characters without braces'],
    ['[shared]\nurl = "redis://x"\ntimeout_ms = 0', 'shared.timeout_ms must be at least 1'],
    ['[blocks]\ncrowdsec = "http://127.0.0.1:8080"\nmachine = "a"', 'blocks.password_file must be set together'],
    ['[blocks]\nmachine = "a"', 'blocks.password_file must be set together'],
    ['[blocks.bouncers]\nfirewall = "key-of-the-firewall"', 'set operator.listen'],
    ['[blocks.bouncers]\nfirewall = "short"', 'blocks.bouncers must be a table of names'],
    [
      '[operator]\nlisten = "127.0.0.1:1"\ntoken = "operator-token-0123"\n[blocks.bouncers]\nfirewall = "operator-token-0123"',
      'blocks.bouncers.firewall is also the token of an operator',
    ],
    ['[limits', 'not valid TOML'],
  ])('refuses %p', (toml, message) => expect(() => parseConfig(toml)).toThrow(message));

  test('quotes no line of an invalid file, because it contains secrets', () => {
    const broken = '[rtc]\nurl = "wss://sfu.example"\nkey = "k"\nsecret = "hunter2\n';
    expect(() => parseConfig(broken, 'limits.toml')).toThrow(/^limits\.toml: not valid TOML: line 4, column [0-9]+: /);
    expect(() => parseConfig(broken)).not.toThrow(/hunter2|sfu/);
  });

  describe('of the media service', () => {
    const rtc = '[rtc]\nurl = "wss://sfu.example"\nkey = "k"\nsecret = "s"\n';
    const registration = 'registration = "calls.yaml"\n';
    const gateway = '[gateway]\nupstream = "http://127.0.0.1:1"\n';

    test.each([
      [rtc],
      [rtc + registration + gateway],
      [gateway],
      [`[rtc]\ntrusted_servers = ["a.example"]\n${gateway}`],
    ])('accepts %j', (toml) => {
      expect(() => parseConfig(toml)).not.toThrow();
    });

    test.each([
      [rtc + gateway, 'rtc.registration is needed in front of a homeserver'],
      [rtc + registration, 'rtc.registration is for rtc.url in front of a homeserver'],
      [`[rtc]\n${registration}${gateway}`, 'rtc.registration is for rtc.url in front of a homeserver'],
    ])('refuses %j', (toml, message) => expect(() => parseConfig(toml)).toThrow(message));
  });
});

import { parseConfig } from '../config/config.js';
import { mayLeave } from './may-leave.js';

const BLOCK = 'block = { after = 3, for = "1h" }';
const RULE = `[[rules]]\nname = "mails"\non = ["request_token"]\nlimit = 5\nwindow = "1h"\n${BLOCK}\n`;
const config = (more: string) => parseConfig(more);

describe('a block', () => {
  const rule = `${RULE}by = "source"\n`;
  const leaves = (toml: string, value = '192.0.2.1', name = 'mails') => mayLeave(config(toml), { rule: name, value });

  test('leaves the gateway while its rule is in force and refuses', () => {
    expect(leaves(rule)).toBe(true);
    expect(leaves(rule, '2001:db8::/64')).toBe(true);
    expect(leaves(`[rates.login_source]\n${BLOCK}\n`, '192.0.2.1', 'login_source')).toBe(true);
    expect(leaves('', '192.0.2.1', 'login_source')).toBe(false);
    expect(leaves(`${rule}shadow = true\n`)).toBe(false);
    expect(
      leaves(`[ratelimit]\nshadow = ["login_source"]\n[rates.login_source]\n${BLOCK}\n`, '192.0.2.1', 'login_source'),
    ).toBe(false);
    expect(leaves(`[ratelimit]\nenabled = false\n${rule}`)).toBe(false);
    expect(leaves(`${RULE}by = "account_source"\n`.replace('request_token', 'login'))).toBe(false);
    expect(leaves(rule, '192.0.2.1', 'gone')).toBe(false);
  });

  test.each([
    ['a trusted proxy', `[server]\ntrusted_proxies = ["192.0.2.1"]\n${rule}`, '192.0.2.1'],
    ['a network of proxies', `[server]\ntrusted_proxies = ["192.0.2.0/24"]\n${rule}`, '192.0.2.9'],
    ['a proxy in its network', `[server]\ntrusted_proxies = ["2001:db8::5"]\n${rule}`, '2001:db8::/64'],
    ['an exempt network', `${rule}[exemptions]\nnetworks = ["192.0.2.1"]\n`, '192.0.2.1'],
    ['a network that its rule exempts', `${rule}exempt_networks = ["2001:db8::/32"]\n`, '2001:db8:1:2::/64'],
    ['this machine', rule, '127.0.0.1'],
    ['this machine', rule, '::/64'],
    ['no address', rule, 'unknown'],
  ])('stays where it concerns %s', (_, toml, value) => expect(leaves(toml, value)).toBe(false));
});
